/** Plain JSON Schema in, Gemini's dialect out. */
import { expect, test } from "bun:test";
import type { Json } from "../../../src/core/model.ts";
import { toGeminiSchema } from "../../../src/models/gemini/schema.ts";

const table: readonly (readonly [string, Json, Json])[] = [
  ["an unknown key", { type: "string", $schema: "x", readOnly: true, default: "a" }, { type: "STRING" }],
  ["an empty schema", {}, { type: "STRING" }],
  [
    "null among types",
    { type: ["string", "null"], description: "d" },
    { type: "STRING", description: "d", nullable: true },
  ],
  [
    "null among choices",
    { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }], description: "d" },
    { type: "INTEGER", minimum: 1, description: "d", nullable: true },
  ],
  [
    "several types",
    { type: ["string", "number", "null"] },
    { anyOf: [{ type: "STRING" }, { type: "NUMBER" }], nullable: true },
  ],
  [
    "one of",
    { oneOf: [{ type: "string" }, { type: "boolean" }] },
    { anyOf: [{ type: "STRING" }, { type: "BOOLEAN" }] },
  ],
  ["a constant", { const: "a" }, { type: "STRING", enum: ["a"] }],
  ["a number constant", { const: 3 }, { type: "NUMBER", description: "(one of 3)" }],
  ["an enum", { type: "string", enum: ["a", "b"] }, { type: "STRING", enum: ["a", "b"] }],
  ["an enum with null", { enum: ["a", null] }, { type: "STRING", nullable: true, enum: ["a"] }],
  ["an enum of numbers", { type: "integer", enum: [1, 2] }, { type: "INTEGER", description: "(one of 1, 2)" }],
  ["an enum with an empty word", { enum: ["", "a"] }, { type: "STRING", description: '(one of "", "a")' }],
  [
    "limits of exact integers",
    { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
    { type: "INTEGER" },
  ],
  [
    "what only words can say",
    { type: "string", minLength: 1, pattern: "^a$", format: "uri", description: "A link" },
    { type: "STRING", description: "A link (at least 1 characters; matching /^a$/; format: uri)" },
  ],
  ["exclusive limits", { type: "number", exclusiveMinimum: 0 }, { type: "NUMBER", description: "(more than 0)" }],
  ["a list without items", { type: "array" }, { type: "ARRAY", items: { type: "STRING" } }],
  [
    "a list",
    { type: "array", items: { type: "number" }, maxItems: 3 },
    { type: "ARRAY", maxItems: 3, items: { type: "NUMBER" } },
  ],
  [
    "a tuple",
    { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
    { type: "ARRAY", items: { anyOf: [{ type: "STRING" }, { type: "NUMBER" }] } },
  ],
  ["an object of anything", { type: "object", additionalProperties: {} }, { type: "OBJECT" }],
  [
    "the order of properties",
    {
      type: "object",
      properties: { z: { type: "string" }, a: { type: "string" } },
      required: ["a", "gone"],
      additionalProperties: false,
    },
    {
      type: "OBJECT",
      properties: { z: { type: "STRING" }, a: { type: "STRING" } },
      required: ["a"],
      propertyOrdering: ["z", "a"],
    },
  ],
  [
    "a reference",
    { $ref: "#/$defs/a", $defs: { a: { type: "string", description: "d" } } },
    { type: "STRING", description: "d" },
  ],
  [
    "a cycle",
    { $ref: "#/$defs/a", $defs: { a: { type: "object", properties: { next: { $ref: "#/$defs/a" } } } } },
    { type: "OBJECT", properties: { next: { type: "OBJECT" } }, propertyOrdering: ["next"] },
  ],
  [
    "all of",
    {
      allOf: [
        { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        { properties: { b: { type: "string" } } },
      ],
    },
    {
      type: "OBJECT",
      properties: { a: { type: "STRING" }, b: { type: "STRING" } },
      required: ["a"],
      propertyOrdering: ["a", "b"],
    },
  ],
];

test.each(table)("converts %s", (_name, schema, expected) => {
  expect(toGeminiSchema(schema)).toEqual(expected);
});
