/** Turns plain JSON Schema into the strict form: every property required, no others allowed, limits put in words. */
import type { Json } from "../../core/model.ts";
import { fields, listIn, textIn, type WireFields } from "./fields.ts";

type Schema = Record<string, Json>;

/** The keywords that the strict form knows besides the shape. */
const knownKeywords = ["title", "type", "enum", "const", "$ref"] as const;

/** The strict form of OpenAI and Anthropic. An optional property becomes one that may be null. */
export function toStrictSchema(schema: Json): Json {
  const root = fields(schema);
  const definitions = { ...fields(root["definitions"]), ...fields(root["$defs"]) };
  const converted = convert(root);
  return Object.keys(definitions).length === 0 ? converted : { ...converted, $defs: convertAll(definitions) };
}

function convert(source: unknown): Schema {
  const schema = fields(source);
  const choices = listIn(schema["anyOf"] ?? schema["oneOf"]);
  return {
    ...pick(schema),
    ...described(schema),
    ...(choices.length === 0 ? {} : { anyOf: choices.map(convert) }),
    ...("properties" in schema || schema["type"] === "object" ? convertObject(schema) : {}),
    ...("items" in schema ? { items: convert(schema["items"]) } : {}),
  };
}

function convertAll(schemas: WireFields): Schema {
  return Object.fromEntries(Object.entries(schemas).map(([name, value]) => [name, convert(value)]));
}

function convertObject(schema: WireFields): Schema {
  const required = listIn(schema["required"]);
  const properties = Object.entries(fields(schema["properties"])).map(([name, value]) => {
    const converted = convert(value);
    return [name, required.includes(name) ? converted : nullable(converted)] as const;
  });
  return {
    properties: Object.fromEntries(properties),
    required: properties.map(([name]) => name),
    additionalProperties: false,
  };
}

function nullable(schema: Schema): Schema {
  const types = listIn(schema["type"] ?? []).concat(typeof schema["type"] === "string" ? [schema["type"]] : []);
  if (types.includes("null")) return schema;
  const values = schema["enum"];
  const plain = types.length > 0 && !("const" in schema) && !("properties" in schema);
  if (!plain) return { anyOf: [schema, { type: "null" }] };
  const type = [...types, "null"] as Json;
  return Array.isArray(values) ? { ...schema, type, enum: [...values, null] } : { ...schema, type };
}

function described(schema: WireFields): Schema {
  const description = describeInWords(schema);
  return description === "" ? {} : { description };
}

function pick(schema: WireFields): Schema {
  return Object.fromEntries(knownKeywords.filter((key) => key in schema).map((key) => [key, schema[key] as Json]));
}

/** Limits in words; # stands for the value. */
const limits = {
  minLength: "at least # characters",
  maxLength: "at most # characters",
  pattern: "matching /#/",
  format: "format: #",
  minimum: "at least #",
  maximum: "at most #",
  exclusiveMinimum: "more than #",
  exclusiveMaximum: "less than #",
  multipleOf: "a multiple of #",
  minItems: "at least # items",
  maxItems: "at most # items",
} as const;

/** The schema's own description, then its limits in brackets; "" for neither. */
function describeInWords(schema: WireFields): string {
  const worded = Object.entries(limits)
    .filter(([key]) => key in schema && isTelling(schema[key]))
    .map(([key, words]) => words.replace("#", () => String(schema[key])));
  const rest = worded.length === 0 ? "" : `(${worded.join("; ")})`;
  return [textIn(schema["description"]), rest].filter(Boolean).join(" ");
}

/** Whether a limit is worth telling: not the limits of safe integers, which libraries add, and no long pattern. */
function isTelling(value: unknown): boolean {
  return Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER && String(value).length <= 100;
}

/** Plain JSON Schema as other servers take it: without `$schema`, which some of their grammar compilers reject. */
export function withoutDialect(schema: Json): Json {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema"));
}
