/** Reads fields of a model's JSON leniently: a number as a text, one text as a list, null as nothing. */
import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";
import { isFields, type Json } from "../model.ts";

/** How many wrappers around a value are opened at most. */
export const maxWraps = 5;

/** A value as text; of a list or an object, all its texts joined. */
export function toText(value: unknown): string {
  return typeof value === "object" && value !== null ? joinTexts(value, 0) : String(value ?? "");
}

function joinTexts(value: object, depth: number): string {
  if (depth > maxWraps) return "";
  const said = Object.values(value).map((each: unknown) =>
    typeof each === "object" && each !== null ? joinTexts(each, depth + 1) : toText(each),
  );
  return said.filter((each) => each !== "").join(Array.isArray(value) ? ", " : ": ");
}
export const toList = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value == null || value === "" ? [] : [value];

/** Fields by which models name a path or a command in an object. */
const targetNames = ["path", "file", "file_path", "filepath", "filename", "command", "cmd", "run", "name"];

/** A path or command as text: bare, alone in a list, or in an object that names it. Other values stay as they are. */
export function toTarget(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 1 ? toTarget(value[0]) : value;
  if (typeof value !== "object" || value === null) return toText(value);
  const named = new Map(Object.entries(value));
  return targetNames.map((name) => named.get(name)).find((each) => typeof each === "string") ?? value;
}

/** A path without the blanks and quotes around it, as the action script reads it too. */
export const barePath = (text: string): string => /^(['"`])(.+)\1$/s.exec(text.trim())?.[2] ?? text.trim();

/** Whether a pattern or a list stands in place of a path: a plan cannot promise that. */
export const namesSeveral = (path: string): boolean =>
  path.includes("*") ||
  (/[\s,;&]/.test(path) && path.split(/\s*[,;&]\s*|\s+and\s+/).filter((part) => /^\S+\.\w+$/.test(part)).length > 1);

/** A part of a model's JSON: `plain` turns what is written into what `schema` accepts, where only one thing can be meant. */
export interface Lenient<Schema extends z.ZodMiniType = z.ZodMiniType> {
  readonly plain: (value: unknown) => unknown;
  readonly schema: Schema;
}

export const leniently = <Schema extends z.ZodMiniType>(
  plain: (value: unknown) => unknown,
  schema: Schema,
): Lenient<Schema> => ({ plain, schema });

export const lenientText = leniently(toText, z.string());
/** A list of such values. `list`: its schema where there is one already, since making one takes its time. */
export const listOf = <Schema extends z.ZodMiniType>(
  { plain, schema }: Lenient<Schema>,
  list: z.ZodMiniArray<Schema> = z.array(schema),
) => leniently((value) => toList(value).map(plain), list);

export const texts = listOf(lenientText);
export const lenientCommands = listOf(leniently(toTarget, lenientText.schema), texts.schema);
const paths = listOf(
  leniently((value) => {
    const named = toTarget(value);
    return typeof named === "string" ? barePath(named) : named;
  }, lenientText.schema),
  texts.schema,
);

/** The lists of files in a plan and a schedule, in the order in which models are asked for them. */
export const fileLists = {
  files_to_read: paths,
  files_to_create: paths,
  files_to_modify: paths,
  files_to_delete: paths,
};

type Shape = Readonly<Record<string, Lenient>>;
type SchemasOf<Of extends Shape> = { [Name in keyof Of]: Of[Name]["schema"] };

/** An object with these fields. */
export function objectOf<const Of extends Shape>(fields: Of): Lenient<z.ZodMiniObject<SchemasOf<Of>>> {
  const named = Object.entries(fields);
  const plain = (value: unknown) => {
    if (!isFields(value)) return value;
    const read: Record<string, unknown> = {};
    for (const [name, field] of named) read[name] = field.plain(value[name]);
    return read;
  };
  const schemas = Object.fromEntries(named.map(([name, { schema }]) => [name, schema])) as SchemasOf<Of>;
  return leniently(plain, z.object(schemas));
}

/** An object with these fields, or null for anything else. */
export function filled<const Of extends Shape>(fields: Of) {
  const { plain, schema } = objectOf(fields);
  return leniently((value) => (isFields(value) ? plain(value) : null), z.nullable(schema));
}

/** Reads what a model wrote. `whole`: what a fault of the value itself is called. */
export const readLeniently = <T>({ plain, schema }: Lenient<z.ZodMiniType<T>>, value: Json, whole: string) =>
  readAs(schema, plain(value), whole);

const complexities = ["simple", "moderate", "complex"] as const;
/** The one of these words that the value holds, in any case; with none or several of them, moderate. */
export const complexity = leniently((value) => {
  const written = new Set(
    toText(value)
      .toLowerCase()
      .match(/\p{L}+/gu),
  );
  const found = complexities.filter((word) => written.has(word));
  return found.length === 1 ? found[0] : "moderate";
}, z.enum(complexities));

// Messages in English. `jitless`: zod need not test whether `eval` works, which pai never uses.
z.config({ ...en(), jitless: true });

export type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

/** `whole`: what a fault of the value itself is called; at most five faults are reported. */
export function readAs<T>(schema: z.ZodMiniType<T>, value: unknown, whole: string): Reading<T> {
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const faults = parsed.error.issues.slice(0, 5).map(({ path, message }) => {
    const why = message.replace(/^Invalid input: (?:.* received undefined$)?/, "") || "missing";
    return `${path.join(".") || whole}: ${why}`;
  });
  return { ok: false, why: faults.join("; ") };
}

/** By pai's name of a field: other names that models give it. */
export type FieldNames = Readonly<Record<string, readonly string[]>>;

const isBlank = (value: Json | undefined) => value == null || value === "";

/** The value with its fields under pai's names; another name counts only when the field itself is missing or blank. */
export function nameFields(names: FieldNames, value: Json): Json {
  if (!isFields(value)) return value;
  const meant: Record<string, Json> = {};
  for (const [own, others] of Object.entries(names)) {
    const other = isBlank(value[own]) ? others.find((name) => !isBlank(value[name])) : undefined;
    if (other !== undefined) meant[own] = value[other] ?? null;
  }
  return { ...value, ...meant };
}
