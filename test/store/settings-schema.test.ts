/** The JSON Schema of the settings file says of a file what reading it says. */
import { expect, test } from "bun:test";
import * as z from "zod";
import type { Json } from "../../src/core/model.ts";
import { allSettings } from "../../src/store/setting-table.ts";
import { loadSettings } from "../../src/store/settings.ts";
import { describeSettings } from "../../src/store/settings-schema.ts";
import { type Home, makeHome, put } from "./temp-home.ts";

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
