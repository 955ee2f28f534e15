/** The script that renews the catalogue: from models.dev's form, with announced prices, and never from a damaged file. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mergeModels } from "../../scripts/catalogue/merge.ts";
import { readModels } from "../../scripts/catalogue/models-dev.ts";
import file from "../../src/models/catalogue.json" with { type: "json" };
import type { CatalogueEntry } from "../../src/models/catalogue.ts";

const root = join(import.meta.dir, "../..");

const today = "2026-11-23";
/** A model as models.dev writes it, with the fields that pai does not need. */
const modelsDev = (model: object) => ({
  ...{ name: "A model", attachment: true, reasoning: true, tool_call: true, release_date: "2026-10-01" },
  modalities: { input: ["text", "image"], output: ["text"] },
  limit: { context: 200_000, output: 64_000 },
  cost: { input: 2, output: 10, cache_read: 0.2, cache_write: 2.5 },
  ...model,
});
const read = (models: object, provider = "openai") =>
  readModels(JSON.stringify({ [provider]: { id: provider, env: ["KEY"], models } }), "api.json");
const merge = (models: object, before: readonly CatalogueEntry[] = [], provider = "openai", day = today) =>
  mergeModels(before, read(models, provider), day);
const known: CatalogueEntry = {
  provider: "openai",
  name: "gpt-x",
  window: 100_000,
  maxOutputTokens: 10_000,
  prices: [{ date: "2026-01-01", input: 1, cached: 0.1, output: 5 }],
};

test("the catalogue in the repository is what the script makes", async () => {
  const announced = readFileSync(join(root, "scripts/catalogue/announced.json"), "utf8");
  const { models, changes } = mergeModels(file.models, readModels(announced, "announced.json"), file.made);
  expect(changes).toEqual([]);
  expect(models).toEqual(file.models);
});

test("every model that was announced is in it, under the name of pai's provider", () => {
  const announced = readFileSync(join(root, "scripts/catalogue/announced.json"), "utf8");
  const names = file.models.map(({ provider, name }) => `${provider}:${name}`);
  for (const { provider, name } of readModels(announced, "announced.json"))
    expect(names).toContain(`${provider}:${name}`);
  for (const name of ["gemini:gemini-4-argon", "openai:gpt-5.1", "mistral:mistral-large-latest"])
    expect(names).toContain(name);
});

describe("a new model", () => {
  test("gets its limits and its rates of today", () => {
    const { models, changes } = merge({ "gpt-9": modelsDev({}) });
    expect(changes).toEqual(["+ openai:gpt-9"]);
    const rates = { input: 2, cached: 0.2, written: 2.5, output: 10 };
    const prices = [{ date: today, source: "https://models.dev/api.json", ...rates }];
    expect(models).toEqual([{ provider: "openai", name: "gpt-9", window: 200_000, maxOutputTokens: 64_000, prices }]);
  });

  const priceOf = (cost: object | undefined) => merge({ "gpt-9": modelsDev({ cost }) }).models[0]?.prices[0];

  test("with tiers has the first length and the dearest rates", () => {
    const tier = (size: number, input: number) => ({ tier: { type: "context", size }, input, output: 5 * input });
    const tiers = [tier(500_000, 8), tier(200_000, 4), { ...tier(1, 99), tier: { type: "speed", size: 1 } }];
    const large = { above: 200_000, input: 8, cached: 8, output: 40 };
    expect(priceOf({ input: 2, output: 10, tiers })?.large).toEqual(large);
    const older = { input: 2, output: 10, cache_read: 1, context_over_200k: { input: 4, output: 15, cache_read: 2 } };
    expect(priceOf(older)?.large).toEqual({ above: 200_000, input: 4, cached: 2, output: 15 });
  });

  test.each([
    ["calls no tools", { tool_call: false }],
    ["writes no text", { modalities: { output: ["audio"] } }],
    ["is deprecated", { status: "deprecated" }],
  ])("that %s is left out", (_why, over) => {
    expect(merge({ "gpt-9": modelsDev(over) }).models).toEqual([]);
  });
});

describe("a model of the catalogue", () => {
  const same = { input: 1, output: 5, cache_read: 0.1 };

  test("keeps the day and the source of a price that did not change", () => {
    const limit = { context: 100_000, output: 10_000 };
    expect(merge({ "gpt-x": modelsDev({ cost: same, limit }) }, [known])).toEqual({ models: [known], changes: [] });
  });

  test("gets a changed price from today on, up to the next that was announced", () => {
    const later = { date: "2026-02-01", from: "2027-01-01", input: 9, cached: 9, output: 9 };
    const before = { ...known, prices: [...known.prices, later] };
    const { models, changes } = merge({ "gpt-x": modelsDev({ cost: { input: 3, output: 6 } }) }, [before]);
    const source = "https://models.dev/api.json";
    const rates = { input: 3, cached: 3, output: 6 };
    expect(models[0]?.prices).toEqual([{ date: today, until: "2026-12-31", source, ...rates }, later]);
    expect(changes[0]).toStartWith("~ openai:gpt-x: window 100000 -> 200000, ");
  });

  test("keeps its end, and who gets it no more, which models.dev does not tell", () => {
    const end = { ends: "2027-01-14", closed: "closed to new accounts" };
    expect(merge({ "gpt-x": modelsDev({}) }, [{ ...known, ...end }]).models[0]).toMatchObject(end);
    const closed = "by invitation only";
    expect(merge({ "gpt-x": { closed } }, [known]).models[0]).toEqual({ ...known, closed });
  });

  test("is left out when it has ended, unless another one is charged in its place", () => {
    const ended = { ...known, ends: today };
    expect(merge({}, [ended])).toEqual({ models: [], changes: [`- openai:gpt-x: ended ${today}`] });
    const served = { ...ended, prices: [{ date: today, from: today, input: 3, cached: 3, output: 6 }] };
    expect(merge({}, [served]).models).toEqual([served]);
  });

  test("that no file names stays; another provider's model of that name is another one", () => {
    const { models } = merge({ "gpt-x": modelsDev({}) }, [known], "google");
    expect(models.map(({ provider, name }) => `${provider}:${name}`)).toEqual(["openai:gpt-x", "gemini:gpt-x"]);
    const other = merge({ "glm-9": modelsDev({}) }, [known], "mistral");
    expect(other.models.map(({ name }) => name)).toEqual(["gpt-x", "glm-9"]);
  });
});

describe("a file that is damaged or of another form is an error that says where, and nothing is written", () => {
  const limits = { limit: { context: 9, output: 3 } };
  test.each([
    ["cut short", '{"openai": {"models": {', "is no JSON"],
    ["empty", "", "is no JSON"],
    ["a list", "[]", "not in the form of models.dev's api.json"],
    ["of another tool", '{"gpt-4": {"litellm_provider": "openai"}}', "it has none of google, openai"],
    ["of no models", '{"openai": {"models": []}}', "openai.models is no list of models by name"],
    ["with a word for a price", { cost: { input: "2", output: 1 }, ...limits }, 'openai "gpt-9": cost.input: '],
    ["with a negative price", { cost: { input: -2, output: 1 }, ...limits }, 'openai "gpt-9": cost.input: '],
    ["with a broken limit", { limit: { context: 0, output: 1 } }, 'openai "gpt-9": limit.context: '],
    ["with a day that is none", { ...limits, ends: "2026-13-01" }, 'openai "gpt-9": ends: '],
    ["with a model that is none", null, 'openai "gpt-9": all of it: '],
  ])("%s", (name, content, message) => {
    const text = typeof content === "string" ? content : JSON.stringify({ openai: { models: { "gpt-9": content } } });
    expect(() => readModels(text, `${name}.json`)).toThrow(message);
    expect(() => readModels(text, `${name}.json`)).toThrow(`${name}.json`);
  });

  test("names that are none, such as those with control characters, are shown safely; the first faults are named", () => {
    const models = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`a\u001b[31m${at}`, modelsDev({})]));
    const faults = /^api\.json is damaged:\n {2}openai "a\\u001b\[31m0": its name: .*(?:\n.*){4}\n {2}and 3 more$/;
    expect(() => read(models)).toThrow(faults);
  });
});
