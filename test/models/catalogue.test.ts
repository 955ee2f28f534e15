/** The catalogue: what stands in it is whole, says where it comes from, and holds for the day it is asked about. */
import { describe, expect, test } from "bun:test";
import * as z from "zod";
import file from "../../src/models/catalogue.json" with { type: "json" };
import { findModel, knownModels, nextPrice, priceOn } from "../../src/models/catalogue.ts";

const day = z.iso.date();
const size = z.int().positive();
const usd = z.number().positive();
const rate = { input: usd, cached: usd, written: usd.optional(), output: usd };
const price = z.strictObject({
  ...rate,
  date: day,
  from: day.optional(),
  until: day.optional(),
  source: z.url({ protocol: /^https$/ }).optional(),
  large: z.strictObject({ above: size, ...rate }).optional(),
});
const shape = z.strictObject({
  provider: z.enum(["gemini", "openai", "anthropic", "mistral"]),
  name: z.string().regex(/^[a-z][a-z0-9.-]+$/),
  window: size,
  maxOutputTokens: size,
  ends: day.optional(),
  closed: z.string().max(60).optional(),
  prices: z.array(price),
});

describe("every model of the catalogue", () => {
  test.each(file.models)("$provider:$name", (entry) => {
    const { prices, window, maxOutputTokens } = shape.parse(entry);
    expect(maxOutputTokens).toBeLessThan(window);
    for (const each of prices) {
      expect(each.cached).toBeLessThanOrEqual(each.input);
      expect(each.written ?? each.input).toBeGreaterThanOrEqual(each.input);
      expect(each.output).toBeGreaterThanOrEqual(each.input);
      if (each.large === undefined) continue;
      const { above, ...large } = each.large;
      expect(above).toBeLessThan(window);
      for (const part of ["input", "cached", "output"] as const) expect(large[part]).toBeGreaterThan(each[part]);
      expect(large.written === undefined).toBe(each.written === undefined);
    }
  });

  test("has at most one price on any day", () => {
    for (const { provider, name, prices } of knownModels) {
      const days = prices.toSorted((a, b) => ((a.from ?? "") < (b.from ?? "") ? -1 : 1));
      for (const [at, each] of days.entries()) {
        const next = days[at + 1];
        const isApart = next === undefined || (each.until ?? "9") < (next.from ?? "");
        expect([`${provider}:${name}`, isApart]).toEqual([`${provider}:${name}`, true]);
      }
    }
  });

  test("is listed once, and has a price with day and source, or none", () => {
    const names = knownModels.map(({ provider, name }) => `${provider}:${name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const model of knownModels) {
      for (const { date, from = date } of model.prices)
        expect(priceOn(from, model)).toMatchObject({ date, source: expect.stringMatching(/^https:/) });
    }
  });
});

describe("prices", () => {
  const today = "2026-11-22";
  const findPrice = (provider: string, name: string, day: string) => {
    const model = findModel(provider, name);
    return model && priceOn(day, model);
  };

  test("know the dearer rate of a large input", () => {
    expect(findPrice("gemini", "gemini-3.1-pro-preview", today)).toMatchObject({
      input: 2,
      large: { above: 200_000, input: 4, written: 4, output: 18 },
    });
    expect(findPrice("anthropic", "claude-haiku-5-5", today)?.large).toMatchObject({ above: 100_000, written: 0.625 });
  });

  test("know what it costs to write to the cache; where nothing is said, what input costs", () => {
    expect(findPrice("anthropic", "claude-opus-5-5", today)).toMatchObject({ input: 4, cached: 0.2, written: 5 });
    expect(findPrice("openai", "gpt-4.1", today)).toMatchObject({ input: 2, written: 2 });
  });

  test("are unknown for an unknown model, never zero", () => {
    expect(findPrice("gemini", "gemini-99", today)).toBeNull();
    expect(findPrice("gemini", "gemini-flash-latest", today)).toBeNull();
    expect(findPrice("gemini", "gpt-4.1", today)).toBeNull();
  });

  test("are unknown from the day a model ends, unless it is known what is charged then", () => {
    expect(findPrice("openai", "gpt-5", "2026-12-10")?.input).toBe(1.25);
    expect(findPrice("openai", "gpt-5", "2026-12-11")).toBeNull();
    expect(findPrice("gemini", "gemini-2.5-pro", "2026-11-30")?.output).toBe(10);
    expect(findPrice("gemini", "gemini-2.5-pro", "2026-12-01")?.output).toBe(3.75);
  });

  test("change on the days that were announced", () => {
    const outputs = (name: string, ...days: string[]) => days.map((each) => findPrice("gemini", name, each)?.output);
    expect(outputs("gemini-3.8-flash", "2026-11-23", "2026-12-31", "2027-01-01", "2028-01-01")).toEqual([
      3.75, 3.75, 7.5, 7.5,
    ]);
    expect(outputs("gemini-4-argon", "2026-11-30", "2026-12-01")).toEqual([10, 20]);
  });

  test("are unknown when the time they were promised for is over and nothing is announced", () => {
    const model = { provider: "openai", name: "x", window: 9, maxOutputTokens: 1 };
    const once = { date: "2026-11-01", until: "2026-12-31", input: 1, cached: 1, output: 2 };
    const of = (day: string) => priceOn(day, { ...model, prices: [once] })?.input ?? null;
    expect([of("2026-12-31"), of("2027-01-01")]).toEqual([1, null]);
    expect(nextPrice("2026-12-01", { ...model, prices: [once] })).toBeNull();
    const later = { ...once, from: "2027-01-01", until: "2027-02-01", input: 5 };
    expect(nextPrice("2026-12-01", { ...model, prices: [once, later] })).toMatchObject({
      from: "2027-01-01",
      input: 5,
    });
  });
});

test("a dated name is the model it is a version of, another kind of model is not", () => {
  expect(findModel("gemini", "gemini-2.5-flash-preview-09-2025")?.name).toBe("gemini-2.5-flash");
  expect(findModel("gemini", "gemini-2.5-flash-001")?.name).toBe("gemini-2.5-flash");
  expect(findModel("openai", "gpt-4.1-2025-04-14")?.name).toBe("gpt-4.1");
  expect(findModel("anthropic", "claude-haiku-4-5-20251001")?.name).toBe("claude-haiku-4-5");
  expect(findModel("gemini", "gemini-2.5-flash-image")).toBeNull();
  expect(findModel("anthropic", "claude-opus-4-1-20250805")).toBeNull();
});
