/** The type of a setting, and common kinds: caps, whole numbers, lists, switches, texts, durations. */
import { type Fields, isFields, type Json } from "../core/model.ts";

/** One setting of type T; null means "not set". */
export interface Setting<T> {
  readonly name: string;
  /** The expected value in words, such as "a number". */
  readonly wants: string;
  readonly fallback: T;
  /** Environment variable. */
  readonly env?: string;
  /** Key of the flag table: "maxCalls" for --max-calls. */
  readonly flag?: string;
  /** Parses the text of a variable, a flag or `config set` into JSON. */
  readonly fromText: (text: string) => Json;
  /** The value, clamped where needed; null: wrong type. */
  readonly check: (json: Json) => T | null;
  /** Names the wrong part of a value that `check` refuses; absent: all of it is wrong. */
  readonly fault?: Judge;
  /** The value is an object with names of the user's choice, each of which `pai config` sets alone: `models.NAME`. */
  readonly hasEntries?: true;
  /** An invalid variable or flag means the fallback, not an error. */
  readonly lenient?: true;
  /** Combines `current` with what an untrusted project wants; absent: a project may not set it. */
  readonly narrow?: (current: T, wanted: T) => T;
  /** Combines `wanted` with the bound from the system's file (`policy`, `limits`); absent: the user decides. */
  readonly bind?: (bound: T, wanted: T) => T;
  /** No project may set it, trusted or not. */
  readonly userOnly?: true;
  /** The value as it is displayed; absent: unchanged. */
  readonly shown?: (value: Json) => Json;
  /** JSON Schema of the value in a file. */
  readonly schema: Fields;
}

export interface Sources {
  readonly env?: string;
  readonly flag?: string;
  readonly lenient?: true;
}

export const asNumber = (text: string): Json =>
  /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : text;
const asList = (text: string): Json => text.split("\n").filter((line) => line.trim() !== "");
export const asJson = (text: string): Json => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
};
const asSwitch = (text: string): Json => {
  if (/^(1|true|yes|on)$/i.test(text.trim())) return true;
  return /^(0|false|no|off)$/i.test(text.trim()) ? false : text;
};

/** Seconds of `90`, `90s`, `5m` or `2h`; null: not a duration. */
function parseDuration(text: string): number | null {
  const parts = /^(\d+(?:\.\d+)?)(s|m|h)?$/i.exec(text.trim());
  if (parts === null) return null;
  const unit = { s: 1, m: 60, h: 3600 }[(parts[2] ?? "s").toLowerCase()] ?? 1;
  return Number(parts[1]) * unit;
}

export const isNumber = (json: Json): json is number => typeof json === "number" && Number.isFinite(json);
export const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

/** The smaller of two caps; null: no cap. */
export const lower = <T extends number | null>(current: T, wanted: T): T =>
  current === null || (wanted !== null && wanted < current) ? wanted : current;

/** A number of at least 0; null (the default): no cap. An untrusted project and the system's file can only lower it. */
export function cap(name: string, wants: string, whole: boolean, sources: Sources = {}): Setting<number | null> {
  const check = (json: Json): number | null =>
    isNumber(json) && json >= 0 && (!whole || Number.isInteger(json)) ? json : null;
  const schema = { type: whole ? "integer" : "number", minimum: 0 };
  const fixed = { name, wants, schema, fallback: null, fromText: asNumber, check } as const;
  return { ...fixed, narrow: lower, bind: lower, ...sources };
}

/** A whole number; one beyond `low` or `high` becomes that limit. */
export function wholeNumber(
  name: string,
  { low, high, fallback }: { readonly low: number; readonly high: number; readonly fallback: number },
  sources: Sources = {},
): Setting<number> {
  const check = (json: Json): number | null =>
    isNumber(json) && Number.isInteger(json) ? clamp(json, low, high) : null;
  const wants = `a whole number from ${low} to ${high}`;
  return { name, wants, schema: { type: "integer" }, fallback, fromText: asNumber, check, ...sources };
}

export type Texts = readonly string[];
export const joinTexts = (some: Texts, more: Texts): Texts => [...new Set([...some, ...more])];

export const nonEmpty = { type: "string", pattern: "\\S" } as const;

/** A list of non-blank texts, one a line in a variable or `config set`; empty by default. */
export function listKind(name: string, sources: Sources = {}): Setting<readonly string[]> {
  const check = (json: Json): readonly string[] | null =>
    Array.isArray(json) && json.every((item) => typeof item === "string" && item.trim() !== "") ? json : null;
  const schema = { type: "array", items: nonEmpty };
  return { name, wants: "a list of texts", schema, fallback: [], fromText: asList, check, ...sources };
}

/** Splits a command into words; null: it has shell syntax, or no words. */
export function readCommand(json: Json): Texts | null {
  const words = typeof json === "string" && !/["'`$;&|<>()\\\n]/.test(json) ? json.trim().split(/\s+/) : json;
  if (!Array.isArray(words) || words.length === 0) return null;
  return words.every((word) => typeof word === "string" && word.trim() !== "") ? words : null;
}

/** True or false, also written 1, yes, on, 0, no, off; false by default. */
export function switched(name: string, sources: Sources): Setting<boolean> {
  const check = (json: Json): boolean | null => (typeof json === "boolean" ? json : null);
  const fixed = { name, wants: "true or false", schema: { type: "boolean" }, fallback: false } as const;
  return { ...fixed, fromText: asSwitch, check, ...sources };
}

/** A non-blank text, trimmed. */
export function textKind(name: string, wants: string, fallback: string, sources: Sources): Setting<string> {
  const check = (json: Json): string | null => (typeof json === "string" && json.trim() !== "" ? json.trim() : null);
  return { name, wants, schema: nonEmpty, fallback, fromText: (value) => value, check, ...sources };
}

/** A duration in seconds, above 0 and at most `max`; written as 90, 90s, 5m or 2h. */
export function duration(name: string, max: number): Omit<Setting<number>, "fallback" | "narrow"> {
  const check = (json: Json): number | null => {
    const seconds = typeof json === "string" ? parseDuration(json) : json;
    return isNumber(seconds) && seconds > 0 ? Math.min(seconds, max) : null;
  };
  const schema = {
    anyOf: [
      { type: "number", exclusiveMinimum: 0 },
      { type: "string", pattern: "^\\s*(0*[1-9]\\d*(\\.\\d+)?|0+\\.0*[1-9]\\d*)[smhSMH]?\\s*$" },
    ],
  };
  return { name, wants: "a duration such as 90, 90s or 5m", schema, fromText: (value) => value, check };
}

/** The wrong part of a value, and what belongs there. */
export interface Fault {
  /** Names that lead to it from the value; empty: the value itself. */
  readonly path: readonly string[];
  /** To follow "must be". */
  readonly wants: string;
}

/** null: the value is right. */
export type Judge = (json: Json) => Fault | null;

/** What a value must be: by a judge that says what is wrong with it, and as JSON Schema. */
export interface Shape {
  readonly judge: Judge;
  readonly schema: Fields;
}

type Shapes = Readonly<Record<string, Shape>>;

const below = (name: string, fault: Fault | null): Fault | null =>
  fault === null ? null : { ...fault, path: [name, ...fault.path] };

function firstFault(faults: Iterable<Fault | null>): Fault | null {
  for (const fault of faults) if (fault !== null) return fault;
  return null;
}

export const valueShape = (wants: string, schema: Fields, fits: (json: Json) => boolean): Shape => ({
  schema,
  judge: (json) => (fits(json) ? null : { path: [], wants }),
});

export const oneOf = (values: readonly string[]): Shape =>
  valueShape(`one of ${values.join(", ")}`, { enum: [...values] }, (json) => values.some((value) => value === json));

/** A shape with a rule that no schema says; it sees only values that have the shape. */
export const withRule = ({ judge, schema }: Shape, rule: Judge): Shape => ({
  schema,
  judge: (json) => judge(json) ?? rule(json),
});

/** An object with names of the user's choice. `wants`: what its names must be, to follow "must have a name of". */
export function entriesShape(name: { readonly wants: string; readonly shape: RegExp }, inner: Shape): Shape {
  const judge: Judge = (json) => {
    if (!isFields(json)) return { path: [], wants: "an object" };
    return firstFault(
      Object.entries(json).map(([key, value]) =>
        name.shape.test(key) ? below(key, inner.judge(value)) : { path: [key], wants: `named by ${name.wants}` },
      ),
    );
  };
  return { judge, schema: { type: "object", additionalProperties: inner.schema } };
}

/** An object with these fields and no others. `what`: what it is, like "a provider". */
export function objectShape(what: string, required: Shapes, optional: Shapes): Shape {
  const all = { ...required, ...optional };
  const names = Object.keys(all).join(", ");
  const judge: Judge = (json) => {
    if (!isFields(json)) return { path: [], wants: `an object with ${names}` };
    const unknown = Object.keys(json).find((key) => !Object.hasOwn(all, key));
    if (unknown !== undefined) return { path: [unknown], wants: `left out: ${what} has ${names}` };
    const given = Object.entries(all).filter(([key]) => Object.hasOwn(required, key) || json[key] !== undefined);
    return firstFault(given.map(([key, shape]) => below(key, shape.judge(json[key] ?? null))));
  };
  const properties = Object.fromEntries(Object.entries(all).map(([key, { schema }]) => [key, schema]));
  return {
    judge,
    schema: { type: "object", additionalProperties: false, required: Object.keys(required), properties },
  };
}

/** A setting with entries of one shape by names of the user's choice. */
export const entriesKind = (name: string, wants: string, { judge, schema }: Shape): Setting<Fields> => ({
  ...{ name, wants, schema, fallback: {}, fromText: asJson, fault: judge, hasEntries: true },
  check: (json) => (judge(json) === null ? (json as Fields) : null),
});

/** One of some words. */
export function choice<T extends string>(
  name: string,
  values: readonly T[],
  fallback: T,
  sources: Sources = {},
): Setting<T> {
  const check = (json: Json): T | null => values.find((known) => known === json) ?? null;
  const fixed = { name, wants: `one of ${values.join(", ")}`, schema: { enum: [...values] }, fallback };
  return { ...fixed, fromText: (value) => value.trim(), check, ...sources };
}
