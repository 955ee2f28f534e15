/** Reads JSON as models write it: a whole reply, the `reply` of a plan while it streams, and its fields, leniently. */
import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";
import { isTooDeep, replyCaps } from "./caps.ts";
import { isFields, type Json } from "./model.ts";
import { createThoughtSplitter, findClosing, openingOf } from "./script/thought.ts";

export type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

/**
 * The first JSON object in a reply, behind reasoning, fences and prose. Mended: trailing commas, comments, raw breaks in
 * strings, odd blanks, Python's constants and quotes, an object escaped once too often. One that is not closed stays so:
 * `why` then begins with "cut".
 */
export function readJson(text: string): Reading<Json> {
  const body = withoutThoughts(text);
  const whole = body.startsWith("{") ? parseJson(body) : null;
  if (whole?.ok) return whole;
  const inner = readEscaped(body);
  if (inner !== null) return readJson(inner);
  let first: Reading<Json> | null = null;
  for (let at = nextObject(body, 0); at >= 0; ) {
    const scanned = scanObject(body, at);
    if (scanned === null) return first ?? { ok: false, why: "cut: the JSON object is not closed" };
    const reading = parseJson(scanned.json);
    if (reading.ok && isOneOfMany(body, at, scanned.end)) return { ok: false, why: "an array, not one JSON object" };
    if (reading.ok) return reading;
    first ??= reading;
    at = nextObject(body, scanned.end);
  }
  return first ?? { ok: false, why: "there is no JSON object in the reply" };
}

function parseJson(json: string): Reading<Json> {
  try {
    const value = JSON.parse(json);
    return isTooDeep(value)
      ? { ok: false, why: `nested more than ${replyCaps.depth} levels deep` }
      : { ok: true, value };
  } catch (error) {
    return { ok: false, why: `not valid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Reasoning that never ends may go on with the answer, on a line of its own; "": it does not. */
function answerIn(thought: string): string {
  const at = thought.search(/^[ \t]*(?:\{|```)/m);
  return at < 0 ? "" : thought.slice(at);
}

/** Some servers leave out the opening tag, so the closing one counts too, unless JSON has begun before it. */
function withoutThoughts(text: string): string {
  const body = text.trimStart();
  const isOpened = openingOf(body) !== "";
  if (!isOpened && ["{", "[", '"', "```"].some((mark) => body.startsWith(mark))) return body;
  const end = findClosing(body)?.end;
  if (end === undefined) return isOpened ? answerIn(body) : body;
  return withoutThoughts(body.slice(end));
}

const entities: Readonly<Record<string, string>> = {
  quot: '"',
  "#34": '"',
  "#39": "'",
  apos: "'",
  amp: "&",
  lt: "<",
  gt: ">",
};

/** The object of a reply, unescaped, when the quote of its first key is escaped for JSON or HTML; null: it is not. */
function readEscaped(body: string): string | null {
  const [opening, quote] = /\{(?:\s|\\[nrt])*(["']|\\"|&quot;|&#34;)/.exec(body) ?? [];
  if (opening === undefined || quote === undefined || quote.length === 1) return null;
  const object = body.slice(body.indexOf(opening), body.lastIndexOf("}") + 1);
  if (quote !== '\\"') return object.replace(/&(#?\w+);/g, (all, name: string) => entities[name] ?? all);
  const reading = parseJson(escapeControls(`"${object}"`));
  return reading.ok && typeof reading.value === "string" ? reading.value : null;
}

function nextObject(text: string, from: number): number {
  const opening = /\{\s*(?:["'}]|\/[/*])/g;
  opening.lastIndex = from;
  return opening.exec(text)?.index ?? -1;
}

/** Is the object at `at` the first of several in an array? */
const isOneOfMany = (text: string, at: number, end: number): boolean =>
  /\[\s*$/.test(text.slice(Math.max(0, at - 80), at)) && /^\s*,\s*[^\s\]]/.test(text.slice(end, end + 80));

/** Where the token that begins at `at` ends; -1: the text ends first. */
function tokenEnd(text: string, at: number): number {
  const first = text[at];
  if (first === '"' || first === "'") return stringEnd(text, at);
  if (first !== "/" && first !== "#") return at + 1;
  const mark = text.startsWith("/*", at) ? "*/" : "\n";
  const end = text.indexOf(mark, at + 2);
  return end < 0 ? -1 : end + mark.length;
}

function stringEnd(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === text[open]) return at + 1;
  }
  return -1;
}

function toJsonString(token: string): string {
  if (!/^["']/.test(token)) return token;
  const inner = token.slice(1, -1).replace(/\\.|"/gs, (mark) => (mark === '"' ? '\\"' : mark === "\\'" ? "'" : mark));
  return escapeControls(`"${inner}"`);
}

const escapeControls = (quoted: string): string =>
  quoted.replace(/[\x00-\x1f]/g, (char) => JSON.stringify(char).slice(1, -1));

const nesting: Readonly<Record<string, number>> = { "{": 1, "[": 1, "}": -1, "]": -1 };

/** The object at `start`, mended; null when the text ends before the object does. */
function scanObject(text: string, start: number): { readonly json: string; readonly end: number } | null {
  const parts: string[] = [];
  const marks = /["'{}[\],/#]/g;
  let depth = 0;
  let from = start;
  marks.lastIndex = start;
  for (let match = marks.exec(text); match !== null; match = marks.exec(text)) {
    const { 0: mark, index } = match;
    const end = tokenEnd(text, index);
    if (end < 0) return null;
    const step = nesting[mark] ?? 0;
    parts.push(toJsonWords(text.slice(from, index)));
    if (step < 0) dropTrailingComma(parts);
    if (mark !== "/" && mark !== "#") parts.push(toJsonString(text.slice(index, end)));
    depth += step;
    if (depth === 0) return { json: parts.join(""), end };
    from = end;
    marks.lastIndex = end;
  }
  return null;
}

/** Replaces constants of Python and JavaScript, and white space that JSON does not know. Never called for strings. */
const toJsonWords = (between: string): string =>
  between
    .replace(/[^\S \t\r\n]|[\u200B\u2060]/g, " ")
    .replace(/\b(?:None|undefined|NaN|True|False)\b/g, (word) =>
      word === "True" || word === "False" ? word.toLowerCase() : "null",
    );

function dropTrailingComma(parts: string[]): void {
  const last = parts.findLastIndex((part) => part.trim() !== "");
  if (parts[last] === ",") parts[last] = "";
}

/** How a plan begins: its intent, then its reply. */
const beginning = /^[^{]*\{\s*"intent"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*"reply"\s*:\s*"/s;
const maxBeginning = 4000;
/** Whole characters and escapes of a string; the next piece of the stream may complete what follows them. */
const wholeCharacters =
  /^(?:[^"\\\ud800-\udbff]|[\ud800-\udbff](?!$)|\\[^u]|\\u(?![dD][89abAB])[\da-fA-F]{4}|\\u[\da-fA-F]{4}(?=[^\\]|\\[^u]|\\u[\da-fA-F]{4}))*/;

function withoutEscapes(written: string): string {
  const reading = parseJson(escapeControls(`"${written}"`));
  return reading.ok ? String(reading.value) : written;
}

/** Follows the streamed JSON of a plan for its reply. A plan that begins in another way is shown once it is whole. */
export function createReplyReader() {
  const thoughts = createThoughtSplitter();
  let place: "before" | "inside" | "behind" | "unknown" = "before";
  let held = "";
  const begin = (): void => {
    const [opening] = beginning.exec(held) ?? [];
    if (opening !== undefined) [place, held] = ["inside", held.slice(opening.length)];
    else if (held.length > maxBeginning) place = "unknown";
  };
  return {
    /** Returns the characters of `reply` that became known, unescaped. */
    push(chunk: string): string {
      if (place === "behind" || place === "unknown") return "";
      held += thoughts.push(chunk).text;
      if (place === "before") begin();
      if (place !== "inside") return "";
      const [whole = ""] = wholeCharacters.exec(held) ?? [];
      held = held.slice(whole.length);
      if (held.startsWith('"')) place = "behind";
      return withoutEscapes(whole);
    },
    isComplete: (): boolean => place === "behind",
  };
}

/** The type of what a schema describes, as pai hands it on: nothing of it is changed. */
export type ShapeOf<Schema extends z.ZodMiniType> = Settled<z.infer<Schema>>;
type Settled<T> = T extends readonly (infer Item)[]
  ? readonly Settled<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Settled<Exclude<T[K], undefined>> }
    : T;

export const maxWraps = 5;

/** A value as text; of a list or an object, all its texts joined. */
export function toText(value: unknown, depth = 0): string {
  if (typeof value !== "object" || value === null) return String(value ?? "");
  if (depth > maxWraps) return "";
  const said = Object.values(value).map((each: unknown) => toText(each, depth + 1));
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

export const lenientText = leniently((value) => toText(value), z.string());
export const listOf = <Schema extends z.ZodMiniType>({ plain, schema }: Lenient<Schema>) =>
  leniently((value) => toList(value).map((each) => plain(each)), z.array(schema));

export const texts = listOf(lenientText);
export const lenientCommands = listOf(leniently(toTarget, lenientText.schema));
const paths = listOf(
  leniently((value) => {
    const named = toTarget(value);
    return typeof named === "string" ? barePath(named) : named;
  }, lenientText.schema),
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
