/** The catalogue: what stands in it is whole, says where it comes from, and holds for the day it is asked about. */
import { describe, expect, test } from "bun:test";
import * as z from "zod";
import file from "../../src/models/catalogue.json" with { type: "json" };
import { findModel, findPrice, knownModels } from "../../src/models/catalogue.ts";

const day = z.iso.date();
const size = z.int().positive();
const usd = z.number().positive();
const rate = { input: usd, cached: usd, written: usd.optional(), output: usd };
const shape = z.strictObject({
  provider: z.enum(["gemini", "openai", "anthropic"]),
  name: z.string().regex(/^[a-z][a-z0-9.-]+$/),
  window: size,
  maxOutputTokens: size,
  ends: day.optional(),
  price: z
    .strictObject({
      ...rate,
      date: day,
      until: day.optional(),
      source: z.url({ protocol: /^https$/ }).optional(),
      large: z.strictObject({ above: size, ...rate }).optional(),
    })
    .nullable(),
});

describe("every model of the catalogue", () => {
  test.each(file.models)("$provider:$name", (entry) => {
    const { price, window, maxOutputTokens } = shape.parse(entry);
    expect(maxOutputTokens).toBeLessThan(window);
    if (price === null) return;
    expect(price.cached).toBeLessThan(price.input);
    expect(price.written ?? price.input).toBeGreaterThanOrEqual(price.input);
    expect(price.output).toBeGreaterThan(price.input);
    if (price.large === undefined) return;
    const { above, ...large } = price.large;
    expect(above).toBeLessThan(window);
    for (const part of ["input", "cached", "output"] as const) expect(large[part]).toBeGreaterThan(price[part]);
    expect(large.written === undefined).toBe(price.written === undefined);
  });

  test("is listed once, and has a price with day and source, or none", () => {
    const names = knownModels().map(({ provider, name }) => `${provider}:${name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const { price } of knownModels()) {
      if (price !== null)
        expect([price.date, price.source]).toEqual([expect.any(String), expect.stringMatching(/^https:/)]);
    }
  });
});

describe("prices", () => {
  const today = "2026-11-22";

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
    expect(findPrice("openai", "gpt-5.6-sol", today)).toBeNull();
    expect(findPrice("gemini", "gpt-4.1", today)).toBeNull();
  });

  test("are unknown from the day a model ends: another one is charged in its place, or none", () => {
    expect(findPrice("gemini", "gemini-2.5-flash", "2026-11-30")?.input).toBe(0.3);
    expect(findPrice("gemini", "gemini-2.5-flash", "2026-12-01")).toBeNull();
  });

  test("are unknown when the time they were promised for is over", () => {
    expect(findPrice("gemini", "gemini-3.8-flash", "2026-12-31")?.input).toBe(0.75);
    expect(findPrice("gemini", "gemini-3.8-flash", "2027-01-01")).toBeNull();
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
