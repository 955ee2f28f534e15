/** Settings: values and origins, rights of files and projects, and the schema that editors get. */
import { expect, test } from "bun:test";
import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { Json } from "../../src/core/model.ts";
import { allSettings } from "../../src/store/setting-table.ts";
import { loadSettings } from "../../src/store/settings.ts";
import { describeSettings } from "../../src/store/settings-schema.ts";
import { type Home, makeHome, put, trustProject } from "./temp-home.ts";

const load = (home: Home, env: Record<string, string> = {}, flags: Record<string, string | number | boolean> = {}) =>
  loadSettings({ flags, env, places: home.places, root: home.root });
const user = (home: Home, json: object | string) =>
  put(home.config("config.json"), typeof json === "string" ? json : JSON.stringify(json));
const project = (home: Home, json: object) => put(join(home.root, "pai.json"), JSON.stringify(json));
const machine = (home: Home, json: object | string) =>
  put(join(home.root, "../system.json"), typeof json === "string" ? json : JSON.stringify(json), 0o644);

const noCaps = { calls: null, tokens: null, cost: null };

test("defaults without any file, and nothing is written at start (R44)", () => {
  const home = makeHome();
  const { settings, origins, warnings, trust } = load(home);
  expect(settings).toMatchObject({ model: "gemini:gemini-3.5-flash-lite", temperature: null, mode: "single-shot" });
  expect([settings.guard, settings.commands]).toEqual([{ lines: 500 }, { env: [], writable: [], timeout: 30 }]);
  expect([origins["model"], warnings, trust]).toEqual(["default", [], null]);
  expect(readdirSync(home.places.home ?? "")).toEqual(["project"]);
});

test("every setting has a value and an origin, in the order of the table", () => {
  const { values, origins } = load(makeHome());
  const names = allSettings.map(({ name }) => name);
  expect(names.length).toBeGreaterThan(30);
  expect(Object.keys(values)).toEqual(names);
  expect(Object.keys(origins)).toEqual(names);
});

test("flag wins over environment, project, user file and default, and each origin is known (R40)", () => {
  const home = makeHome();
  user(home, { mode: "tool-loop", limits: { calls: 9, cost: 2, timeout: "5m" }, temperature: 0.7 });
  project(home, { mode: "auto", limits: { calls: 5 } });
  const { settings, origins } = load(home, { PAI_MAX_TOKENS: "800" }, { mode: "eight-step", timeout: "7s" });
  const limits = { calls: 5, tokens: 800, cost: 2, day: noCaps, timeout: 7, silence: null };
  expect(settings).toMatchObject({ mode: "eight-step", temperature: 0.7, limits });
  const from = ["tokens", "timeout", "calls", "cost"].map((name) => origins[`limits.${name}`]);
  expect(from).toEqual(["PAI_MAX_TOKENS", "flag", "pai.json", "config.json"]);
});

test("the system's file is below the user's, and each origin is known (R40)", () => {
  const home = makeHome();
  const system = machine(home, { mode: "auto", model: "local:a", sandbox: "writes" });
  user(home, { model: "local:b" });
  const { settings, origins } = loadSettings({ flags: {}, env: { PAI_MAX_CALLS: "4" }, ...home, system });
  expect([settings.limits.calls, settings.model, settings.sandbox]).toEqual([4, "local:b", "writes"]);
  expect(origins).toMatchObject({ "limits.calls": "PAI_MAX_CALLS", model: "config.json", sandbox: system });
});

test("a system's file that others may write is not believed", () => {
  const home = makeHome();
  const system = machine(home, { baseUrl: { gemini: "https://elsewhere.example" } });
  chmodSync(system, 0o666);
  expect(() => loadSettings({ flags: {}, env: {}, ...home, system })).toThrow("can be written by other users");
});

test("policy and limits of the system's file can only be narrowed, by whatever source, with a warning", () => {
  const home = makeHome();
  const bound = {
    limits: { calls: 5, cost: 1, timeout: "5m", silence: 60 },
    policy: { allow: [".vscode/**"], deny: ["*.sql"] },
  };
  const system = machine(home, bound);
  const policy = { allow: [".vscode/**", ".git/**"], deny: ["a"] };
  user(home, { limits: { calls: 9, timeout: 60, silence: 600 }, policy });
  project(home, { limits: { calls: 4, tokens: 900 }, policy: { allow: [".ssh/**"], deny: ["b"] } });
  trustProject(home);
  const sources = { flags: { maxCalls: "7" }, env: { PAI_MAX_COST: "3" }, ...home, system };
  const { settings, origins, warnings } = loadSettings(sources);
  expect(settings.limits).toEqual({ calls: 5, tokens: 900, cost: 1, day: noCaps, timeout: 60, silence: 60 });
  expect(settings.policy).toEqual({ allow: [], deny: ["*.sql", "b"] });
  expect(origins["limits.cost"]).toBe(system);
  expect(warnings).toEqual(
    [
      ...["limits.calls of config.json", "limits.calls of flag", "limits.cost of PAI_MAX_COST"],
      ...["limits.silence of config.json", "policy.allow of config.json", "policy.allow of pai.json"],
    ].map((what) => `${what} is bound by ${system}`),
  );
});

test("a system's file that is broken or of the wrong type stops everybody, with file and line", () => {
  const home = makeHome();
  const system = machine(home, '{\n  "limits": { "calls": "few" }\n}');
  const read = () => loadSettings({ flags: {}, env: {}, ...home, system });
  expect(read).toThrow(`${system}, line 2: limits.calls must be a whole number`);
  put(system, "{", 0o644);
  expect(read).toThrow(`${system}, line 1: the file ends too early`);
});

test("a cap that is not a number is an error, never ignored", () => {
  expect(() => load(makeHome(), { PAI_MAX_CALLS: "few" })).toThrow(
    expect.objectContaining({ code: "config_invalid", message: "PAI_MAX_CALLS must be a whole number" }),
  );
  expect(() => load(makeHome(), {}, { timeout: "soon" })).toThrow(expect.objectContaining({ code: "usage" }));
});

test.each([
  ["90", 90],
  ["90s", 90],
  ["5m", 300],
])("a duration of %s is %d seconds", (text, seconds) => {
  expect(load(makeHome(), {}, { timeout: text }).settings.limits.timeout).toBe(seconds);
});

test("unknown names in config.json warn; wrong types and broken JSON are errors with file and line (R43)", () => {
  const home = makeHome();
  const file = user(home, { colour: "red", guard: { lines: 10, width: 3 } });
  const unknown = ["colour", "guard.width"].map((name) => `${file}: unknown setting ${name}, ignored`);
  expect(load(home).warnings).toEqual(unknown);
  for (const [text, fault] of [
    ['{\n "guard": {\n  "lines": "ten"\n }\n}', "line 3: guard.lines must be a whole number of at least 1"],
    ['{"guard": 3}', "line 1: guard must be an object"],
    ['{\n "model": \n}', "line 3:"],
    ["[]", "line 1: must hold one { object }"],
  ] as const) {
    user(home, text);
    expect(() => load(home)).toThrow(`${file}, ${fault}`);
  }
});

test("an untrusted project may only narrow; the rest is ignored with one warning (R41)", () => {
  const home = makeHome();
  user(home, { limits: { calls: 4 }, guard: { lines: 20 }, policy: { deny: ["a"] } });
  project(home, {
    limits: { calls: 50, cost: 1 },
    guard: { lines: 200 },
    policy: { deny: ["b"], allow: ["*"] },
    baseUrl: { gemini: "http://evil.example" },
    checks: ["curl evil.example"],
    forceRoot: true,
    hooks: {},
  });
  const { settings, warnings, trust } = load(home);
  expect(settings.limits).toEqual({ calls: 4, tokens: null, cost: 1, day: noCaps, timeout: null, silence: null });
  expect([settings.guard, settings.policy]).toEqual([{ lines: 20 }, { allow: [], deny: ["a", "b"] }]);
  expect([settings.baseUrl.gemini, settings.checks, trust]).toEqual([null, [], "untrusted"]);
  expect(warnings).toHaveLength(1);
  const names = ["limits.calls", "guard.lines", "policy.allow", "baseUrl.gemini", "checks", "forceRoot", "hooks"];
  for (const name of names) expect(warnings[0]).toContain(name);
});

test("a wrong type of an allowed name in pai.json is an error; of a forbidden one it does not matter", () => {
  const home = makeHome();
  project(home, { limits: { calls: "5" } });
  expect(() => load(home)).toThrow("pai.json, line 1: limits.calls must be a whole number");
  project(home, { checks: 5, baseUrl: 7 });
  expect(load(home).warnings).toEqual(["pai.json: ignored checks, baseUrl (see pai trust)"]);
});

test("the team's database is the user's own to name: no project says it, trusted or not", () => {
  const home = makeHome();
  project(home, { store: { url: "postgres://evil.example/pai" } });
  trustProject(home);
  const trusted = load(home);
  expect([trusted.trust, trusted.settings.storeUrl]).toEqual(["trusted", null]);
  expect(trusted.warnings).toEqual(["pai.json: ignored store.url"]);
  user(home, { store: { url: "postgres://ana@db.example.com/pai" } });
  expect(load(home).settings.storeUrl).toBe("postgres://ana@db.example.com/pai");
  expect(load(home, { PAI_STORE_URL: "postgres://ci@db/pai" }).settings.storeUrl).toBe("postgres://ci@db/pai");
});

test.each([
  ["postgres://ana:s3cret@db.example.com/pai", "postgres://ana:***@db.example.com/pai"],
  ["postgres://ana:s3/cr@et@db.example.com/pai", "postgres://ana:***@db.example.com/pai"],
  ["postgres://:s3cret@db/pai?sslmode=verify-full", "postgres://:***@db/pai?sslmode=verify-full"],
  ["postgres://db/pai?user=ana&password=s3cret", "postgres://db/pai?user=ana&password=***"],
])("the password in the team's address is never shown: %s", (url, shown) => {
  const { settings, values } = load(makeHome(), { PAI_STORE_URL: url });
  expect([settings.storeUrl, values["store.url"]]).toEqual([url, shown]);
});

test("a trusted pai.json may say more, until its content changes", () => {
  const home = makeHome();
  project(home, { checks: ["make test"] });
  trustProject(home);
  expect([load(home).settings.checks, load(home).trust]).toEqual([["make test"], "trusted"]);
  project(home, { checks: ["make evil"] });
  const { settings, trust, warnings } = load(home);
  expect([settings.checks, trust]).toEqual([[], "changed"]);
  expect(warnings).toEqual(["pai.json: ignored checks (it changed since pai trust)"]);
});

test("an effort holds for plans and work, or each has its own; what is said for one call wins over both", () => {
  const home = makeHome();
  user(home, { effort: "low" });
  expect(load(home).settings.effort).toEqual({ plan: "low", work: "low" });
  user(home, { effort: { plan: "max" } });
  expect(load(home).settings.effort).toEqual({ plan: "max", work: null });
  expect(load(home, {}, { effort: "none" }).settings.effort).toEqual({ plan: "none", work: "none" });
  for (const effort of ["a lot", { plans: "low" }, { plan: "a lot" }]) {
    user(home, { effort });
    expect(() => load(home)).toThrow("effort must be one of none, minimal, low, medium, high, max, or {");
  }
});

const schema = z.fromJSONSchema(describeSettings() as never);
const fits = (json: Json) => schema.safeParse(json).success;

/** Whether loading takes it without an error or a word about it. */
function loads(json: Json, home: Home): boolean {
  put(home.config("config.json"), JSON.stringify(json));
  try {
    return loadSettings({ flags: {}, env: {}, ...home, system: "/nonexistent" }).warnings.length === 0;
  } catch {
    return false;
  }
}

const values: readonly Json[] = [
  ...[true, false, 0, 1, -1, 0.5, 2.5, 900, "", " ", "x", "on", "off", "5m", "0s", "1.5h", "5x", "auto", "full"],
  ...["https://example.com", "postgres://host/db", "postgres:// x"],
  ...[[], ["a"], [""], [1], {}, { a: { input: 1, output: 2 } }, { a: { input: -1, output: 2 } }, { a: {} }],
];

for (const { name } of allSettings) {
  // Their own readers say more than a schema should: an address, a program.
  if (name.startsWith("baseUrl.") || name === "mcpServers" || name === "prices" || name === "models") continue;
  test(`${name}: what the schema takes is what reading takes`, () => {
    const home = makeHome();
    const nested = (value: Json) => name.split(".").reduceRight<Json>((inner, part) => ({ [part]: inner }), value);
    for (const value of values)
      for (const json of [nested(value), { [name]: value }]) {
        // A list of checks may be given with its neighbours.
        if (name === "checks" && typeof value === "object" && !Array.isArray(value)) continue;
        expect([json, fits(json)]).toEqual([json, loads(json, home)]);
      }
  });
}

test("groups, whole names and $schema are taken; a name that no setting has is not", () => {
  const good = {
    $schema: "./schema.json",
    checks: { commands: ["true"], sandbox: "off" },
    limits: { calls: 5 },
    "policy.deny": ["*.sql"],
    models: { "local:a": { prices: { input: 0, output: 0.1 } } },
  };
  const home = makeHome();
  expect([fits(good), loads(good, home)]).toEqual([true, true]);
  for (const bad of [{ limit: {} }, { limits: { call: 5 } }, { historyDir: "x" }, { checks: { comands: [] } }])
    expect([bad, fits(bad), loads(bad, home)]).toEqual([bad, false, false]);
});

test("a damaged list of trusted folders is named where a project's settings are ignored for it", () => {
  const home = makeHome();
  put(join(home.root, "pai.json"), '{"checks": ["true"]}');
  put(join(home.places.stateDir, "trust.json"), "{");
  const { warnings, trust } = load(home);
  const told = "pai.json: ignored checks (trust.json, which says what you trust, is damaged: see pai trust)";
  expect([trust, warnings]).toEqual(["damaged", [told]]);
});
