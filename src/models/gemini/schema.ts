/** Turns plain JSON Schema into Gemini's dialect: one unknown key makes Gemini reject the whole request. */
import type { Json } from "../../core/model.ts";
import { fields, listIn, textIn, type WireFields } from "../wire/fields.ts";
import { describeInWords, type KeptLimits } from "../wire/strict-schema.ts";

type Schema = Record<string, Json>;

interface Context {
  readonly definitions: WireFields;
  /** References that are being followed; a repeated one is a cycle and becomes any object. */
  readonly open: readonly string[];
}

/** The keywords that Gemini knows beside the shape; others go into the description. */
const knownKeywords = ["title", "minItems", "maxItems", "minProperties", "maxProperties"] as const;
const keptLimits: KeptLimits = ["minimum", "maximum", "minItems", "maxItems"];

/** `propertyOrdering` keeps the order of `properties`; keywords that the dialect lacks go into the description. */
export function toGeminiSchema(schema: Json): Json {
  const root = fields(schema);
  const definitions = { ...fields(root["definitions"]), ...fields(root["$defs"]) };
  return convert(root, { definitions, open: [] });
}

function convert(source: unknown, context: Context): Schema {
  const schema = mergeAll(fields(source), context);
  const reference = textIn(schema["$ref"]);
  if (reference !== "") return follow(reference, schema, context);
  const choices = choicesOf(schema);
  if (choices !== null) return convertChoices(schema, choices, context);
  return convertPlain(schema, context);
}

/** Merges the schemas of `allOf` into one. */
function mergeAll(schema: WireFields, context: Context): WireFields {
  if (!("allOf" in schema)) return schema;
  const parts = listIn(schema["allOf"]).map((part) => mergeAll(resolve(fields(part), context), context));
  const all = [omit(schema, "allOf"), ...parts];
  return {
    ...Object.assign({}, ...all),
    properties: Object.assign({}, ...all.map((each) => each["properties"])),
    required: all.flatMap((each) => listIn(each["required"])),
  };
}

function resolve(schema: WireFields, context: Context): WireFields {
  const name = textIn(schema["$ref"]).replace(/^.*\//, "");
  return name === "" ? schema : { ...fields(context.definitions[name]), ...omit(schema, "$ref") };
}

function follow(reference: string, schema: WireFields, context: Context): Schema {
  if (context.open.includes(reference)) return { type: "OBJECT" };
  return convert(resolve(schema, context), { ...context, open: [...context.open, reference] });
}

/** The alternatives of a schema, or null: there is only one. */
function choicesOf(schema: WireFields): readonly unknown[] | null {
  const any = listIn(schema["anyOf"] ?? schema["oneOf"]);
  if (any.length > 0) return any;
  const types = schema["type"];
  return Array.isArray(types) ? types.map((type) => ({ ...omit(schema, "description"), type })) : null;
}

function convertChoices(schema: WireFields, choices: readonly unknown[], context: Context): Schema {
  const real = choices.filter((choice) => !isNull(fields(choice)));
  const nullable = real.length < choices.length ? { nullable: true } : {};
  const described = textIn(schema["description"]) === "" ? {} : { description: textIn(schema["description"]) };
  if (real.length === 1) return { ...convert(real[0], context), ...described, ...nullable };
  if (real.length === 0) return { type: "STRING", ...described, nullable: true };
  return { ...described, anyOf: real.map((choice) => convert(choice, context)), ...nullable };
}

function isNull(schema: WireFields): boolean {
  return schema["type"] === "null" || schema["const"] === null;
}

function convertPlain(schema: WireFields, context: Context): Schema {
  const values = "const" in schema ? [schema["const"]] : listIn(schema["enum"]);
  const type = typeOf(schema, values);
  if (type !== "ARRAY" && "type" in schema && Object.keys(schema).length === 1) return { type };
  const description = describe(schema, type, values);
  return {
    type,
    ...(description === "" ? {} : { description }),
    ...(schema["nullable"] === true || values.includes(null) ? { nullable: true } : {}),
    ...(isNameable(type, values) ? { enum: values.filter((value) => value !== null) as string[] } : {}),
    ...pick(schema, knownKeywords),
    ...bounds(schema),
    ...(type === "OBJECT" ? convertObject(schema, context) : {}),
    ...(type === "ARRAY" ? { items: convertItems(schema, context) } : {}),
  };
}

function typeOf(schema: WireFields, values: readonly unknown[]): string {
  if (textIn(schema["type"]) !== "") return textIn(schema["type"]).toUpperCase();
  if ("properties" in schema || "additionalProperties" in schema) return "OBJECT";
  if ("items" in schema || "prefixItems" in schema) return "ARRAY";
  const [value] = values.filter((each) => each !== null);
  return typeof value === "number" || typeof value === "boolean" ? (typeof value).toUpperCase() : "STRING";
}

/** Whether values can be an enum: Gemini's enums hold only non-empty strings. */
function isNameable(type: string, values: readonly unknown[]): boolean {
  return type === "STRING" && values.length > 0 && values.every((value) => value !== "");
}

function describe(schema: WireFields, type: string, values: readonly unknown[]): string {
  const oneOf = `one of ${values.map((each) => JSON.stringify(each)).join(", ")}`;
  return describeInWords(schema, keptLimits, values.length > 0 && !isNameable(type, values) ? [oneOf] : []);
}

/** Minimum and maximum, without the limits of safe integers, which schema libraries add everywhere. */
function bounds(schema: WireFields): Schema {
  const exact = (value: Json | undefined) => Math.abs(Number(value)) < Number.MAX_SAFE_INTEGER;
  return Object.fromEntries(Object.entries(pick(schema, ["minimum", "maximum"])).filter(([, value]) => exact(value)));
}

function convertObject(schema: WireFields, context: Context): Schema {
  const properties = Object.entries(fields(schema["properties"]));
  if (properties.length === 0) return {};
  const names = properties.map(([name]) => name);
  const required = listIn(schema["required"]).filter((name): name is string => names.includes(textIn(name)));
  return {
    properties: Object.fromEntries(properties.map(([name, value]) => [name, convert(value, context)])),
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
    propertyOrdering: names,
  };
}

function convertItems(schema: WireFields, context: Context): Schema {
  const places = listIn(schema["prefixItems"]);
  if (places.length > 0) return convertChoices({}, places, context);
  return convert(schema["items"] ?? { type: "string" }, context);
}

function omit(schema: WireFields, key: string): WireFields {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key));
}

function pick(schema: WireFields, keys: readonly string[]): Schema {
  return Object.fromEntries(keys.filter((key) => key in schema).map((key) => [key, schema[key] as Json]));
}
