/** The setting `providers`: what a row may hold, what its headers become, and that no project can name one. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Json } from "../../src/core/model.ts";
import { openProviders } from "../../src/store/own-providers.ts";
import { settingTable } from "../../src/store/setting-table.ts";
import { loadSettings } from "../../src/store/settings.ts";
import { makeHome, put, trustProject } from "./temp-home.ts";

const gateway = { wire: "chat", url: "https://gw.example/v1" } as const;
const open = (row: Json, env: Record<string, string> = {}) => {
  const [opened] = openProviders({ mine: row }, env);
  if (opened === undefined) throw new Error("no row");
  return opened;
};

const faults: readonly (readonly [string, Json, string])[] = [
  ["mine", { url: "https://x" }, "mine.wire must be one of gemini, responses, messages, chat, local"],
  ["mine", { ...gateway, wire: "soap" }, "mine.wire must be one of"],
  ["mine", { wire: "chat" }, "mine.url must be an http:// or https:// URL"],
  ...["gw.example", "ftp://gw", "https://me:pw@gw", "https://gw/#x", 5].map(
    (url) => ["mine", { ...gateway, url }, "mine.url must be an http:// or https:// URL"] as const,
  ),
  ["mine", { ...gateway, heders: {} }, "mine.heders must be left out: a provider has wire, url, query, headers, key"],
  ["mine", { ...gateway, query: { "a b": "1" } }, "mine.query.a b must be named by a parameter"],
  ["mine", { ...gateway, query: { v: 1 } }, "mine.query.v must be a text"],
  ["mine", { ...gateway, headers: { "x y": "1" } }, "mine.headers.x y must be the name of a header"],
  ["mine", { ...gateway, headers: { "Content-Length": "1" } }, "mine.headers.Content-Length must be the name of a"],
  ["mine", { ...gateway, headers: { a: "1", A: "2" } }, "mine.headers.A must be left out: the same header stands"],
  ["mine", { ...gateway, headers: { a: "one\ntwo" } }, "mine.headers.a must be printable ASCII on one line"],
  ["mine", { ...gateway, headers: { a: "€" } }, "mine.headers.a must be printable ASCII"],
  ["mine", { ...gateway, headers: { a: `\${not closed` } }, "mine.headers.a must be printable ASCII on one line, with"],
  ["mine", { ...gateway, headers: { a: `\${key}` } }, `mine.headers.a must be without \${key}: the row has no key`],
  ["mine", { ...gateway, key: {} }, 'mine.key must be one of {"variable": "NAME"}'],
  ["mine", { ...gateway, key: { variable: "A", stored: true } }, "mine.key must be one of"],
  ["mine", { ...gateway, key: { variable: "A B" } }, "mine.key.variable must be the name of a variable"],
  ["mine", { ...gateway, key: { stored: "yes" } }, "mine.key.stored must be true"],
  ["mine", { ...gateway, key: { command: "a; b" } }, "mine.key.command must be a command without quotes"],
  ["mine", { ...gateway, key: { command: "a", cache: "soon" } }, "mine.key.cache must be a duration"],
  ["mine", { ...gateway, key: { variable: "A", cache: "5m" } }, "mine.key.cache must be left out: only a command has"],
  ["mine", { ...gateway, window: 12 }, "mine.window must be a whole number of tokens"],
  ["mine", { ...gateway, prices: { input: 1 } }, "mine.prices.output must be an amount in USD"],
  ["mine", { ...gateway, effort: "hard" }, "mine.effort must be one of none, minimal, low"],
  ["mine", { ...gateway, insecureHttp: "yes" }, "mine.insecureHttp must be true or false"],
  ["openai", gateway, 'openai must be named otherwise: "openai" is a name of pai\'s own'],
  ["my gateway", gateway, "my gateway must be named otherwise"],
  ["mine", "https://gw.example", "mine must be an object with wire, url, query"],
];

test.each(faults)("%s %j: %s", (name, row, words) => {
  const value = { [name]: row };
  expect(settingTable.providers.check(value)).toBeNull();
  const { path, wants } = settingTable.providers.fault?.(value) ?? { path: [], wants: "" };
  expect(`${path.join(".")} must be ${wants}`).toStartWith(words);
});

test("a wrong row of config.json is named with its line", () => {
  const home = makeHome();
  put(home.config("config.json"), JSON.stringify({ providers: { mine: { wire: "chat", url: "x" } } }, null, 2));
  const load = () => loadSettings({ flags: {}, env: {}, ...home });
  expect(load).toThrow(/config\.json, line 5: providers\.mine\.url must be an http:\/\/ or https:\/\/ URL/);
});

test("a project names no provider, not even a trusted one", () => {
  const home = makeHome();
  put(join(home.root, "pai.json"), JSON.stringify({ providers: { mine: gateway } }));
  const load = () => loadSettings({ flags: {}, env: {}, ...home });
  const left = { settings: { providers: [] }, warnings: [expect.stringContaining("ignored providers")] };
  expect(load()).toMatchObject({ ...left, trust: "untrusted" });
  trustProject(home);
  expect(load()).toMatchObject({ ...left, trust: "trusted" });
});

test("the key goes into the header of its wire, or where the row wants it", () => {
  const headersOf = (wire: string, headers: Json = {}) =>
    open({ wire, url: "https://gw", headers, key: { stored: true } }).headers("K");
  for (const wire of ["chat", "responses", "local"]) expect(headersOf(wire)).toEqual({ authorization: "Bearer K" });
  expect(headersOf("gemini")).toEqual({ "x-goog-api-key": "K" });
  expect(headersOf("messages")).toEqual({ "x-api-key": "K", "anthropic-version": "2023-06-01" });
  expect(headersOf("responses", { "Api-Key": `\${key}` })).toEqual({ "api-key": "K" });
  expect(headersOf("messages", { Authorization: `Bearer \${key}`, "anthropic-version": "next" })).toEqual({
    authorization: "Bearer K",
    "anthropic-version": "next",
  });
});

test("a variable stands in a header; a missing one is named when the row is used, not before", () => {
  const row = { ...gateway, headers: { "x-tenant": `t-\${TENANT}`, authorization: `Bearer \${TOKEN}` } };
  expect(open(row, { TENANT: "a1", TOKEN: "s3cret-token\n" }).headers(null)).toEqual({
    "x-tenant": "t-a1",
    authorization: "Bearer s3cret-token",
  });
  const without = open(row, { TENANT: "a1" });
  const message = "providers.mine.headers.authorization wants the variable TOKEN, which is not set";
  expect(() => without.headers(null)).toThrow(expect.objectContaining({ code: "config_invalid", message }));
  expect(() => open(row, { TENANT: "a\tb", TOKEN: "x" }).headers(null)).toThrow(/TENANT, which holds characters/);
});

test("values of variables and literal secrets of headers are held, other literals are not", () => {
  const headers = {
    "x-title": "pai of the team",
    "cf-aig-authorization": "Bearer literal-secret",
    "x-tenant": `\${TENANT}`,
  };
  expect(open({ ...gateway, headers }, { TENANT: "tenant-77" }).secrets).toEqual(["literal-secret", "tenant-77"]);
  const shown = settingTable.providers.shown?.({ mine: { ...gateway, headers } });
  expect(shown).toEqual({ mine: { ...gateway, headers: { ...headers, "cf-aig-authorization": "***" } } });
});

test("parameters join the query of the URL", () => {
  expect(open({ ...gateway, query: { "api-version": "2024-10-21" } }).url).toBe(
    "https://gw.example/v1?api-version=2024-10-21",
  );
  expect(open({ ...gateway, url: "https://gw?a=1", query: { b: "x y" } }).url).toBe("https://gw/?a=1&b=x+y");
});
