/** pai config and pai trust: what is set, shown, and taken back. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { configCommand } from "../../src/cli/commands/config.ts";
import { trustCommand } from "../../src/cli/commands/trust.ts";
import { settingsAbout } from "../../src/cli/manual.ts";
import { requireConsent } from "../../src/store/base-url.ts";
import { putKey } from "../../src/store/keys.ts";
import { allSettings } from "../../src/store/setting-table.ts";
import { loadSettings } from "../../src/store/settings.ts";
import { put } from "../store/temp-home.ts";
import { openProcess, type Process, type Typed } from "./fake-context.ts";

const canary = `AIza${"cAnArY0987".repeat(3)}tail`;
const say = (process: Process, line: string, typed: Typed = {}) =>
  process.run({ run: configCommand }, { words: line === "" ? [] : line.split(" "), ...typed });

test("get and list say what is in force, set writes it and keeps the rest of the file (R44)", async () => {
  const process = openProcess();
  put(process.home.config("config.json"), '{\n  // mine\n  "temperature": 1,\n  "future": 1\n}\n');
  expect((await say(process, "get temperature")).out).toBe("1\n");
  expect((await say(process, "set temperature 0.5")).code).toBe(0);
  await say(process, "set checks make lint");
  await say(process, "set limits.timeout 5m");
  await say(process, "set guard.lines 40");
  await say(process, 'set mcpServers {"a":{"command":"true"}}');
  expect((await say(process, "get mcpServers")).code).toBe(0);
  expect(readFileSync(process.home.config("config.json"), "utf8")).toContain("// mine");
  const { out } = await say(process, "list", { flags: { json: true }, env: { PAI_MAX_CALLS: "7" } });
  expect(JSON.parse(out).data).toMatchObject({
    temperature: { value: 0.5, origin: "config.json" },
    checks: { value: ["make", "lint"], origin: "config.json" },
    "limits.timeout": { value: 300, origin: "config.json" },
    "guard.lines": { value: 40, origin: "config.json" },
    "limits.calls": { value: 7, origin: "PAI_MAX_CALLS" },
  });
  expect((await say(process, "set temprature 1")).err).toContain("did you mean temperature?");
  expect((await say(process, "set limits.calls many")).err).toContain("must be a whole number");
});

test("get says why: a file, a variable, the only key, or nothing", async () => {
  const process = openProcess();
  const why = /^model: the default, as nothing sets it\nfor: the model .*\nchange: pai config set model VALUE/;
  const told = { out: "gemini:gemini-3.5-flash-lite\n", err: expect.stringMatching(why) };
  expect(await say(process, "get model")).toEqual({ code: 0, ...told });
  const typed = { env: { OPENAI_API_KEY: "sk-x", PAI_MAX_CALLS: "7" } };
  const picked = await say(process, "get model", typed);
  expect(picked.out).toStartWith("openai:");
  expect(picked.err).toContain("openai is the only provider with a key");
  expect((await say(process, "get limits.calls", typed)).err).toStartWith("limits.calls: set by PAI_MAX_CALLS\n");
});

test.each([
  ["set", "pai key set"],
  [`set ${canary}`, "pai key set"],
  [`set model ${canary}`, "pai key set"],
  ["set mode=tool-loop", "pai config set mode tool-loop"],
  ["set mode", "pai config set mode VALUE"],
  ["add work", "pai key add"],
  [canary, "pai key set"],
  ["lst", "did you mean pai config list?"],
])("what is no setting is refused, and the right command is named: %s", async (line, hint) => {
  const process = openProcess();
  const { code, out, err } = await say(process, line);
  expect([code, out]).toEqual(["usage", ""]);
  expect(err).toContain(hint);
});

test("shell syntax is not accepted as a command", async () => {
  const process = openProcess();
  const set = (text: string) => process.run({ run: configCommand }, { words: ["set", "notify", text] });
  for (const text of ["a; b", "echo $HOME", 'say "two words"', "", "  "])
    expect([text, (await set(text)).code]).toEqual([text, expect.stringMatching(/^(?:usage|config_invalid)$/)]);
  await set("notify-send -u low");
  expect((await say(process, "get notify")).out).toBe('["notify-send","-u","low"]\n');
});

test("who sets an address agrees to send the present keys there", async () => {
  const process = openProcess();
  putKey({ places: process.home.places, provider: "gemini" }, "primary", canary, new Date());
  expect((await say(process, "set baseUrl.gemini ftp://x")).code).toBe("config_invalid");
  await say(process, "set baseUrl.gemini https://one.example");
  const endpoint = { provider: "gemini", url: "https://one.example", origin: "config.json" } as const;
  const options = { places: process.home.places, ask: null };
  await requireConsent(endpoint, [canary], options);
  const elsewhere = requireConsent({ ...endpoint, url: "https://two.example" }, [canary], options);
  await expect(elsewhere).rejects.toMatchObject({ code: "untrusted" });
});

test("a setting is taken out of config.json, and one that was not set is not a failure", async () => {
  const process = openProcess();
  await say(process, "set model local:x");
  const unset = expect.stringMatching(/^model is unset in /);
  expect(await say(process, "unset model")).toMatchObject({ code: 0, out: unset });
  expect(await say(process, "unset model")).toEqual({ code: 0, out: "model was not set\n", err: "" });
  expect((await say(process, "get model")).out).toBe("gemini:gemini-3.5-flash-lite\n");
  expect((await say(process, "unset modle")).code).toBe("usage");
});

test("what is written under a name in config.json can be taken out, whether pai knows it or not", async () => {
  const process = openProcess();
  const file = process.home.config("config.json");
  put(file, '{\n  "zzz": 1,\n  "limits": { "cals": 3, "calls": 9 },\n  "limits.tokens": 5\n}\n');
  for (const name of ["zzz", "limits.cals", "limits.tokens"])
    expect((await say(process, `unset ${name}`)).out).toStartWith(`${name} is unset in `);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ limits: { calls: 9 } });
  expect((await say(process, "unset zzz")).code).toBe("usage");
});

test("one half of an effort that was set for both is set alone, and the other half stays", async () => {
  const process = openProcess();
  await say(process, "set effort high");
  expect((await say(process, "set effort.plan low")).code).toBe(0);
  expect((await say(process, "get effort")).out).toBe('{"plan":"low","work":"high"}\n');
});

test("a switch is set in any of the usual words, memory too", async () => {
  const process = openProcess();
  for (const [word, value] of Object.entries({ yes: true, "0": false, on: true })) {
    for (const name of ["memory", "strict"]) {
      expect((await say(process, `set ${name} ${word}`)).out).toStartWith(`${name} = ${value} in `);
      expect((await say(process, `get ${name}`)).out).toBe(`${value}\n`);
    }
  }
});

test("every setting says what it is for", () => {
  const silent = allSettings.filter(({ name }) => !name.startsWith("baseUrl.") && !Object.hasOwn(settingsAbout, name));
  expect(silent.map(({ name }) => name)).toEqual([]);
  expect(Object.keys(settingsAbout).filter((name) => !allSettings.some((each) => each.name === name))).toEqual([]);
});

const trustOf = ({ home: { places, root } }: Process) => loadSettings({ flags: {}, env: {}, places, root }).trust;

test("trusts pai.json as it is, shows it, and takes it back", async () => {
  const process = openProcess();
  put(join(process.home.root, "pai.json"), '{"checks": ["make"]}');
  const { code, out } = await process.run({ run: trustCommand });
  expect([code, trustOf(process)]).toEqual([0, "trusted"]);
  expect(out).toStartWith('{"checks": ["make"]}\n\nTrusted pai.json in ');
  put(join(process.home.root, "pai.json"), '{"checks": ["make evil"]}');
  expect(trustOf(process)).toBe("changed");
  const revoked = await process.run({ run: trustCommand }, { flags: { revoke: true, json: true } });
  expect([JSON.parse(revoked.out).data.trusted, trustOf(process)]).toEqual([false, "untrusted"]);
});

test("where there is nothing to trust, all that could be is named; a broken file is not trusted: exit 3", async () => {
  const { home, run } = openProcess();
  const why = `there is nothing to trust in ${home.root}: no pai.json, and no commands or skills in .pai\n`;
  expect(await run({ run: trustCommand })).toMatchObject({ code: "config_invalid", err: why });
  put(join(home.root, "pai.json"), '{"limits": {"calls": "x"}}');
  expect((await run({ run: trustCommand })).code).toBe("config_invalid");
});
