/** The table of providers: its rows do not contradict each other, and nothing else in the code is such a list. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { flagTable } from "../../src/cli/flags.ts";
import { variables } from "../../src/cli/manual.ts";
import { providerIds, providers } from "../../src/core/providers.ts";
import { newSecrets } from "../../src/core/secrets/key-shapes.ts";
import { modelSources } from "../../src/models/open.ts";
import { allSettings } from "../../src/store/setting-table.ts";

const src = join(import.meta.dir, "../../src");

test("no name, variable or key prefix belongs to two providers", () => {
  const unique = (all: readonly string[]) => expect(all).toEqual([...new Set(all)]);
  unique(providerIds);
  unique(providers.flatMap(({ keyVariables }) => keyVariables));
  unique(providers.flatMap(({ urlVariable }) => urlVariable ?? []));
  unique(providers.flatMap(({ keyShape }) => keyShape?.prefixes ?? []));
  for (const { url } of providers) expect(url).toBe(new URL(url).href.replace(/\/$/, ""));
});

test("flags, settings, models and the manual have every provider", () => {
  for (const id of providerIds) expect(flagTable.provider.about).toContain(id);
  expect([...modelSources]).toEqual([...providerIds, "replay"]);
  const names = allSettings.map(({ name }) => name);
  const told = variables.map(([name]) => name).join(", ");
  for (const { id, keyVariables, urlVariable } of providers) {
    expect(names).toContain(`baseUrl.${id}`);
    for (const variable of [...keyVariables, urlVariable ?? "PAI_BASE_URL"]) expect(told).toContain(variable);
  }
});

test("a key of every provider is found in a text under its own name", () => {
  for (const { keyShape } of providers) {
    for (const prefix of keyShape?.prefixes ?? []) {
      const key = `${prefix}Ab3dEf6hIj9lMn2pQr5tUv8xYz1B4d7f`;
      expect(newSecrets(() => false, `use ${key} here`).map(({ kind }) => kind)).toEqual([keyShape?.kind ?? ""]);
    }
  }
});

test("a provider may be silent for five minutes, a machine of the user's own for a quarter of an hour", () => {
  for (const { needsKey, silence } of providers) expect(silence).toBe(needsKey ? 300 : 900);
});

test("no other file lists providers: a new one is a row", () => {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const named = new RegExp(`["'](?:${providerIds.join("|")})["']`, "g");
  const listing = files.filter((file) => {
    const found = new Set(readFileSync(join(src, file), "utf8").match(named));
    return found.size > 1;
  });
  expect(listing).toEqual(["core/providers.ts"]);
});
