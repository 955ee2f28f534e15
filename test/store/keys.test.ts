/** Keys: where they are found, that none is lost, their turns and rests. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { providerTable } from "../../src/core/providers.ts";
import { endRests, openKeyState } from "../../src/store/key-state.ts";
import { doubtKey, findKeys, holdKeys, maskKey, putKey, removeKey, setDefaultKey } from "../../src/store/keys.ts";
import { type Home, makeHome, modeOf, put } from "./temp-home.ts";

const one = `AIza${"1".repeat(35)}`;
const two = `AIza${"2".repeat(35)}`;
const three = `AIza${"3".repeat(35)}`;

const now = new Date("2026-11-27T10:00:00Z");
const find = (home: Home, env: Record<string, string> = {}) =>
  findKeys(providerTable.gemini, { env, places: home.places }).map(({ id, key }) => [id, key]);
const stored = (home: Home) => JSON.parse(readFileSync(home.config("credentials.json"), "utf8"));
const at = (home: Home, provider = "gemini") => ({ ...home, provider });
const add = (home: Home, id: string, key: string, provider?: string) => putKey(at(home, provider), id, key, now);

test("a key of the environment is used alone, by the order of the names, also from a file (R46)", () => {
  const home = makeHome();
  add(home, "primary", three);
  const file = put(join(home.root, "secret"), `${two}\n`);
  expect(find(home, { GEMINI_API_KEY: one, GOOGLE_API_KEY: two })).toEqual([["env", one]]);
  expect(find(home, { GOOGLE_API_KEY: two })).toEqual([["env", two]]);
  expect(find(home, { GEMINI_API_KEY_FILE: file, GOOGLE_API_KEY: one })).toEqual([["env", two]]);
  expect(find(home, { OPENAI_API_KEY: one, GEMINI_API_KEY: " " })).toEqual([["primary", three]]);
  expect(() => find(home, { GEMINI_API_KEY_FILE: "/nowhere" })).toThrow("GEMINI_API_KEY_FILE names /nowhere");
  expect(() => find(home, { GEMINI_API_KEY: "a\nb" })).toThrow(expect.objectContaining({ code: "key_invalid" }));
});

test("all keys that pai holds are told, of any provider and place, and nothing of a damaged file", () => {
  const home = makeHome();
  add(home, "a", one);
  add(home, "b", two, "mistral");
  const file = put(join(home.root, "secret"), `${three}\n`);
  const link = join(home.root, "link");
  symlinkSync(file, link);
  const env = { OPENAI_API_KEY_FILE: link, ANTHROPIC_API_KEY: ` ${one}4 `, GEMINI_API_KEY_FILE: "/nowhere" };
  expect(holdKeys({ env, places: home.places }).toSorted()).toEqual([one, `${one}4`, two, three].toSorted());
  put(home.config("credentials.json"), "{");
  expect(holdKeys({ env: {}, places: home.places })).toEqual([]);
});

test("writes folder 0700, file 0600, the first key as default, a known id updated", () => {
  const home = makeHome();
  expect(add(home, "a", one)).toEqual({ isNew: true });
  add(home, "b", two);
  expect(add(home, "a", three)).toEqual({ isNew: false });
  const added = { a: now.toISOString(), b: now.toISOString() };
  const gemini = { default: "a", keys: { a: three, b: two }, added };
  expect(stored(home)).toEqual({ version: 3, providers: { gemini } });
  expect([modeOf(home.places.configDir), modeOf(home.config("credentials.json"))]).toEqual(["700", "600"]);
});

test("the default key comes first and begins the next turn; removing it promotes the next", () => {
  const home = makeHome();
  for (const [id, key] of Object.entries({ a: one, b: two, c: three })) add(home, id, key);
  const state = openKeyState(home.places.stateDir);
  state.save({ cursor: { gemini: "a", openai: "x" }, resting: {} });
  setDefaultKey(at(home), "b");
  expect(find(home).map(([id]) => id)).toEqual(["b", "a", "c"]);
  expect(state.load().cursor).toEqual({ openai: "x" });
  expect(removeKey(at(home), null)).toEqual({ removed: "b", default: "a" });
  expect(() => removeKey(at(home), "b")).toThrow(expect.objectContaining({ code: "usage" }));
  expect(() => removeKey(at(home, "openai"), null)).toThrow(expect.objectContaining({ code: "no_key" }));
});

test.each([
  ["names no default", {}],
  ["names a default that is gone", { default: "gone" }],
  ["has damaged times", { default: "a", added: { a: 5 } }],
])("a file that somebody edited and that %s keeps its keys, and the first one is the default", (_what, fields) => {
  const home = makeHome();
  const text = JSON.stringify({ version: 3, providers: { gemini: { ...fields, keys: { a: one, b: two } } } });
  put(home.config("credentials.json"), text);
  expect(find(home).map(([id]) => id)).toEqual(["a", "b"]);
  expect(removeKey(at(home), null)).toEqual({ removed: "a", default: "b" });
});

test.each([
  ...["{", "", "null", "42", '"text"', "not-json", '{"version":3}'],
  '{"version":9,"providers":{}}',
  '{"version":2,"api_key":"AIza"}',
  '{"version":3,"providers":{"gemini":{"keys":{"a":1}}}}',
])("a damaged file is an error and is never overwritten: %j", (text) => {
  const home = makeHome();
  const file = put(home.config("credentials.json"), text);
  for (const use of [() => find(home), () => add(home, "a", one)])
    expect(use).toThrow(expect.objectContaining({ code: "config_invalid" }));
  expect([readFileSync(file, "utf8"), readdirSync(home.places.configDir)]).toEqual([text, ["credentials.json"]]);
});

test("two processes that add keys lose none", async () => {
  const home = makeHome();
  const keys = join(import.meta.dir, "../../src/store/keys.ts");
  const code = `import { putKey } from ${JSON.stringify(keys)};
    const [places, name] = [JSON.parse(process.argv[1]), process.argv[2]];
    for (let n = 0; n < 10; n += 1) putKey({ places, provider: "gemini" }, name + n, "AIza" + name + n, new Date());`;
  const runs = ["x", "y"].map((name) =>
    Bun.spawn([process.execPath, "-e", code, JSON.stringify(home.places), name], { stderr: "inherit" }),
  );
  expect(await Promise.all(runs.map((run) => run.exited))).toEqual([0, 0]);
  expect(find(home)).toHaveLength(20);
});

test("masks short keys whole, others but the first 6 and last 4", () => {
  expect([maskKey("AIza123456"), maskKey("AIza1234567"), maskKey(one)]).toEqual(["***", "***", "AIza11...1111"]);
});

test("knows what a key of a provider looks like", () => {
  const doubt = (provider: string, key: string, origin = "default") => doubtKey(provider, key, { origin });
  for (const key of [one, `AQ.${"Ab8RN6-_".repeat(6)}`]) expect([key, doubt("gemini", key)]).toEqual([key, null]);
  expect(doubt("gemini", "AIza123")).toContain("shorter than those of gemini");
  expect(doubt("gemini", "sk-x")).toContain("they begin with AIza or AQ.");
  expect(doubt("anthropic", "sk-proj-0123456789abcdefghij")).toContain("sk-ant-");
  expect(doubt("mistral", "anything")).toBeNull();
});

test("a gateway has keys of its own, which are no reason for a doubt", () => {
  for (const origin of ["OPENAI_BASE_URL", "PAI_BASE_URL", "config.json"])
    expect(doubtKey("openai", "0123456789abcdef0123456789abcdef", { origin })).toBeNull();
});

test("a missing or damaged file is empty", () => {
  const { places } = makeHome();
  const state = openKeyState(places.stateDir);
  expect(state.load()).toEqual({ cursor: {}, resting: {} });
  put(join(places.stateDir, "keys.json"), '{"cursor": 3');
  expect(state.load()).toEqual({ cursor: {}, resting: {} });
});

test("keeps what another run added; the later rest wins", () => {
  const { places } = makeHome();
  const [first, second] = [openKeyState(places.stateDir), openKeyState(places.stateDir)];
  first.save({ cursor: { gemini: "a" }, resting: { "gemini/a": 50 } });
  second.save({ cursor: { gemini: "b" }, resting: { "gemini/a": 20, "gemini/b": 70 } });
  expect(first.load()).toEqual({ cursor: { gemini: "b" }, resting: { "gemini/a": 50, "gemini/b": 70 } });
  expect(modeOf(join(places.stateDir, "keys.json"))).toBe("600");
  endRests(places.stateDir, "gemini");
  expect(first.load()).toEqual({ cursor: { gemini: "b" }, resting: {} });
});

test("without a place to write, turns live in this process (R45)", () => {
  for (const folder of [null, "/proc/none"]) {
    const state = openKeyState(folder);
    state.save({ cursor: { gemini: "a" }, resting: {} });
    state.save({ cursor: {}, resting: { "gemini/a": 1 } });
    expect(state.load()).toEqual({ cursor: { gemini: "a" }, resting: { "gemini/a": 1 } });
  }
});
