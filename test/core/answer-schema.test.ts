/** The validator of --output-schema agrees with another validator, and refuses what is not a schema. */
import { expect, test } from "bun:test";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { compileSchema } from "../../src/core/answer-schema.ts";
import type { Json } from "../../src/core/model.ts";

const linked = {
  $defs: {
    node: {
      type: "object",
      properties: { value: { type: "string" }, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
      required: ["value", "next"],
    },
  },
  $ref: "#/$defs/node",
};

// As text: an object with `then` would pass for a promise.
const conditional = JSON.parse('{"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":5}}') as Json;

const cases: readonly (readonly [schema: Json, values: readonly Json[]])[] = [
  [
    { type: "object", properties: { a: { type: "integer" } }, required: ["a"], additionalProperties: false },
    [{ a: 1 }, { a: 1.5 }, { a: 1, b: 2 }, {}, [], null, "x", { a: 1.0 }, { a: 2 ** 60 }],
  ],
  [
    { type: "array", items: { type: "string", minLength: 1 }, minItems: 1, uniqueItems: true },
    [[], ["a"], ["a", "a"], [""], [1]],
  ],
  [
    {
      oneOf: [
        { type: "number", minimum: 3 },
        { type: "number", maximum: 5 },
      ],
    },
    [1, 4, 9, "x"],
  ],
  [{ anyOf: [{ const: { a: 1 } }, { enum: ["a", null, [1]] }] }, [{ a: 1 }, { a: 2 }, "a", null, [1], [2]]],
  [
    { allOf: [{ required: ["a"] }, { properties: { b: { type: "number" } } }] },
    [{ a: 1 }, { a: 1, b: "x" }, { b: 1 }, 5],
  ],
  [
    linked,
    [
      { value: "a", next: null },
      { value: "a", next: { value: "b", next: null } },
      { value: "a", next: { value: 1 } },
    ],
  ],
  [{ type: ["string", "null"] }, ["a", null, 1]],
  [
    { type: "object", patternProperties: { "^x": { type: "number" } }, additionalProperties: false },
    [{ x1: 1 }, { x1: "a" }, { y: 1 }],
  ],
  [{ type: "string", pattern: "^a+$", maxLength: 3 }, ["a", "aaaa", "b"]],
  [{ prefixItems: [{ type: "string" }, { type: "number" }], items: false }, [["a", 1], ["a"], ["a", 1, 2], [1]]],
  [{ not: { type: "string" } }, [1, "a"]],
  [conditional, ["a", "ab", 4, 5]],
  [
    { type: "object", minProperties: 1, propertyNames: { pattern: "^a" }, dependentRequired: { a: ["ab"] } },
    [{}, { a: 1, ab: 1 }, { a: 1 }, { b: 1 }],
  ],
  [{ type: "array", contains: { const: 1 }, maxContains: 1 }, [[1], [2], [1, 1]]],
  [{ properties: { a: true }, unevaluatedProperties: false }, [{ a: 1 }, { b: 1 }]],
  [
    { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }], additionalItems: false },
    [["a"], [1], ["a", 1]],
  ],
];

for (const [schema, values] of cases)
  test(`judges as another validator does: ${JSON.stringify(schema).slice(0, 70)}`, () => {
    const judge = compileSchema(JSON.stringify(schema));
    const Other = JSON.stringify(schema).includes("draft-07") ? Ajv : Ajv2020;
    const isValid = new Other({ strict: false, logger: false }).compile(schema as object);
    for (const value of values) expect([value, judge(value) === null]).toEqual([value, isValid(value)]);
  });

test.each([
  ["{", "is not valid JSON"],
  ["[]", "must be one { object }"],
  ['{"type": "strng"}', "is not a JSON Schema: schema/type"],
  ['{"properties": 5}', "is not a JSON Schema: schema/properties"],
  ['{"properties": {"a": {"required": "x"}}}', "is not a JSON Schema: schema/properties/a/required"],
  ['{"items": {"minimum": "3"}}', "is not a JSON Schema: schema/items/minimum"],
  ['{"pattern": "("}', "is not a JSON Schema: schema/pattern"],
  ['{"$ref": "https://example.com/other.json"}', "refers to https://example.com/other.json, which is not in it"],
  ['{"properties": {"a": {"$ref": "#/$defs/none"}}}', "refers to #/$defs/none, which is not in it"],
])("is no schema: %s", (text, why) => {
  expect(() => compileSchema(text)).toThrow(`the output schema ${why}`);
});

test("says where a value does not fit, and why", () => {
  const files = { type: "array", items: { type: "string" } };
  const judge = compileSchema(JSON.stringify({ type: "object", properties: { files }, required: ["ok"] }));
  expect(judge({ files: ["a", 1], ok: true })).toBe(
    'answer/files/1: Instance type "number" is invalid. Expected "string".',
  );
  expect(judge({ files: [] })).toBe('answer: Instance does not have required property "ok".');
  let deep: Json = 1;
  for (let at = 0; at < 5000; at += 1) deep = [deep];
  expect(judge(deep)).toBe("it is nested too deeply");
});
