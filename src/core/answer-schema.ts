/** Judges values by a JSON Schema of the user: drafts 7, 2019-09 and 2020-12. Fetches nothing. Pure. */
import { dereference, type Schema, Validator } from "@cfworker/json-schema";
import { isTooDeep } from "./caps.ts";
import { PaiError } from "./error.ts";
import { type Fields, isFields, type Json } from "./model.ts";

/** Says why a value does not fit the schema; null: it fits. */
export type JudgeAnswer = (value: Json) => string | null;

const self = { $ref: "#" } as const;
const byName = { type: "object", additionalProperties: self } as const;
const several = { type: "array", minItems: 1, items: self } as const;
const size = { type: "integer", minimum: 0 } as const;
const number = { type: "number" } as const;
const text = { type: "string" } as const;
const types = { enum: ["object", "array", "string", "number", "integer", "boolean", "null"] };

const each = (names: string, schema: Fields): Fields =>
  Object.fromEntries(names.split(" ").map((name) => [name, schema]));

/** Which type each keyword's value must have: the validator silently ignores a keyword with a value of another type. */
const schemaOfSchemas: Fields = {
  type: ["object", "boolean"],
  properties: {
    ...each("properties patternProperties $defs definitions dependentSchemas", byName),
    ...each("additionalProperties additionalItems contains propertyNames not if then else", self),
    ...each("unevaluatedItems unevaluatedProperties", self),
    ...each("allOf anyOf oneOf prefixItems", several),
    ...each("minimum maximum exclusiveMinimum exclusiveMaximum", number),
    ...each("minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains", size),
    ...each("$ref $id $schema format", text),
    type: { anyOf: [types, { type: "array", minItems: 1, items: types }] },
    items: { anyOf: [self, several] },
    required: { type: "array", items: text },
    enum: { type: "array" },
    multipleOf: { type: "number", exclusiveMinimum: 0 },
    uniqueItems: { type: "boolean" },
    pattern: { type: "string", format: "regex" },
  },
};

/** The deepest error says why; those above it only say that something below does not fit. */
function renderFaults(what: string, faults: ReturnType<Validator["validate"]>["errors"]): string {
  const places = faults.map(({ keywordLocation }) => keywordLocation);
  const deepest = faults.filter((_, at) => !places.some((other) => other.startsWith(`${places[at]}/`)));
  const rendered = deepest.map(({ instanceLocation, error }) => `${instanceLocation.replace(/^#/, what)}: ${error}`);
  return [...new Set(rendered)].slice(0, 5).join(" ");
}

const draftOf = (name: string) =>
  name.includes("draft-07") || name.includes("draft-06") ? "7" : name.includes("2019-09") ? "2019-09" : "2020-12";

/** The first `$ref` whose target is not in the schema; null: all targets are. */
function findLost(schema: Schema): string | null {
  const known = dereference(schema);
  const lost = Object.values(known).find(
    (each) =>
      typeof each === "object" && each.__absolute_ref__ !== undefined && known[each.__absolute_ref__] === undefined,
  );
  return typeof lost === "object" ? (lost.$ref ?? "") : null;
}

/** Compiles a JSON Schema given as text. Throws usage when it is not a JSON Schema, or refers to another file. */
export function compileSchema(text: string): JudgeAnswer {
  const refuse = (why: string) => new PaiError("usage", `the output schema ${why}`);
  let schema: Json;
  try {
    schema = JSON.parse(text) as Json;
  } catch (cause) {
    throw refuse(`is not valid JSON: ${cause instanceof Error ? cause.message : ""}`);
  }
  if (!isFields(schema) || isTooDeep(schema)) throw refuse("must be one { object }, nested at most 100 deep");
  const { errors } = new Validator(schemaOfSchemas as Schema, "2020-12", false).validate(schema);
  if (errors.length > 0) throw refuse(`is not a JSON Schema: ${renderFaults("schema", errors)}`);
  const lost = findLost(structuredClone(schema) as Schema);
  if (lost !== null) throw refuse(`refers to ${lost}, which is not in it`);
  const validator = new Validator(schema as Schema, draftOf(String(schema["$schema"] ?? "")), false);
  return (value) => {
    if (isTooDeep(value)) return "it is nested too deeply";
    const found = validator.validate(value);
    return found.valid ? null : renderFaults("answer", found.errors);
  };
}
