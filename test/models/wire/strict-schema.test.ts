/** The strict form that OpenAI and Anthropic take. */
import { expect, test } from "bun:test";
import type { Json } from "../../../src/core/model.ts";
import { planJsonSchema } from "../../../src/core/plan/reply-schemas.ts";
import { toStrictSchema } from "../../../src/models/wire/strict-schema.ts";

/** Every schema within a schema. */
function parts(schema: unknown): Record<string, unknown>[] {
  if (typeof schema !== "object" || schema === null) return [];
  const inner = Object.values(schema).flatMap(parts);
  return Array.isArray(schema) ? inner : [schema as Record<string, unknown>, ...inner];
}

test("the plan's schema passes whole: every property required, none beside them, no limit left", () => {
  const strict = toStrictSchema(planJsonSchema);
  const objects = parts(strict).filter((each) => each["type"] === "object");
  expect(objects.length).toBeGreaterThan(3);
  for (const each of objects) {
    expect(each["additionalProperties"]).toBe(false);
    expect(each["required"]).toEqual(Object.keys(each["properties"] as object));
  }
  expect(JSON.stringify(strict)).not.toMatch(/\$schema|minimum|maximum|9007199254740991/);
});

const table: readonly (readonly [string, object, object])[] = [
  ["a property that may be missing", { type: "string" }, { type: ["string", "null"] }],
  ["one that may be null already", { type: ["string", "null"] }, { type: ["string", "null"] }],
  ["an enum", { type: "string", enum: ["a"] }, { type: ["string", "null"], enum: ["a", null] }],
  ["a constant", { const: 1 }, { anyOf: [{ const: 1 }, { type: "null" }] }],
  ["a reference", { $ref: "#/$defs/x" }, { anyOf: [{ $ref: "#/$defs/x" }, { type: "null" }] }],
  [
    "an object",
    { type: "object" },
    { anyOf: [{ type: "object", properties: {}, required: [], additionalProperties: false }, { type: "null" }] },
  ],
];
test.each(table)("%s becomes one that may be null", (_name, property, strict) => {
  expect(toStrictSchema({ type: "object", properties: { a: property as Json } })).toEqual({
    type: "object",
    properties: { a: strict },
    required: ["a"],
    additionalProperties: false,
  } as never);
});

test("limits are put in words; alternatives and definitions are kept", () => {
  const schema = {
    type: "object",
    required: ["a", "b"],
    properties: {
      a: { type: "string", description: "name", minLength: 2, pattern: "^x" },
      b: { oneOf: [{ type: "array", items: { type: "integer", maximum: 9 }, maxItems: 3 }, { type: "null" }] },
    },
    $defs: { x: { type: "object", properties: { c: { type: "number" } }, required: ["c"] } },
  };
  expect(toStrictSchema(schema)).toEqual({
    type: "object",
    properties: {
      a: { type: "string", description: "name (at least 2 characters; matching /^x/)" },
      b: {
        anyOf: [
          { type: "array", description: "(at most 3 items)", items: { type: "integer", description: "(at most 9)" } },
          { type: "null" },
        ],
      },
    },
    required: ["a", "b"],
    additionalProperties: false,
    $defs: {
      x: { type: "object", properties: { c: { type: "number" } }, required: ["c"], additionalProperties: false },
    },
  });
});
