/** Turns plain JSON Schema into the strict form: every property required, no others allowed, limits put in words. */
import type { Json } from "../../core/model.ts";
import { fields, listIn, type WireFields } from "./fields.ts";
import { describeInWords } from "./schema-words.ts";

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
  const description = describeInWords(schema, []);
  return description === "" ? {} : { description };
}

function pick(schema: WireFields): Schema {
  return Object.fromEntries(knownKeywords.filter((key) => key in schema).map((key) => [key, schema[key] as Json]));
}
