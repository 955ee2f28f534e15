/** The type of a setting, and common kinds: caps, whole numbers, lists, switches, texts, durations. */
import * as z from "zod/mini";
import type { Fields, Json } from "../core/model.ts";

/** How a setting is described; null means "not set". */
interface Described<T> {
  readonly name: string;
  readonly wants: string;
  readonly fallback: T;
  /** What a file may hold, and the value that it means. A message of it follows "must be". */
  readonly shape: z.ZodMiniType<T>;
  readonly env?: string;
  /** Key of the flag table: "maxCalls" for --max-calls. */
  readonly flag?: string;
  /** Parses the text of a variable, a flag or `config set` into JSON. */
  readonly fromText: (text: string) => Json;
  /** The value is an object with names of the user's choice, each of which `pai config` sets alone: `models.NAME`. */
  readonly hasEntries?: true;
  /** Combines `current` with what an untrusted project wants; absent: a project may not set it. */
  readonly narrow?: (current: T, wanted: T) => T;
  /** Combines `wanted` with the bound from the system's file (`policy`, `limits`); absent: the user decides. */
  readonly bind?: (bound: T, wanted: T) => T;
  readonly userOnly?: true;
  readonly shown?: (value: Json) => Json;
}

export interface Fault {
  /** Names that lead to it from the value; empty: the value itself. */
  readonly path: readonly string[];
  readonly wants: string;
}

export interface Setting<T> extends Described<T> {
  /** The value, clamped where needed; null: wrong type. */
  readonly check: (json: Json) => T | null;
  /** What is wrong with a value; asked only of one that `check` refuses. */
  readonly fault: (json: Json) => Fault;
  readonly schema: () => Fields;
}

export function setting<T>(described: Described<T>): Setting<T> {
  const { shape, wants } = described;
  return {
    ...described,
    check: (json) => z.safeParse(shape, json).data ?? null,
    fault: () => ({ path: [], wants }),
    schema() {
      const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: "input" });
      return schema as Fields;
    },
  };
}

type More<T> = Partial<Omit<Described<T>, "shape">>;

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

export const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

export const lower = <T extends number | null>(current: T, wanted: T): T =>
  current === null || (wanted !== null && wanted < current) ? wanted : current;

/** A whole number, else an amount in USD; null (the default): no cap. Untrusted projects and the system's file only lower it. */
export function cap(name: string, whole: boolean, more: More<number | null> = {}): Setting<number | null> {
  const shape = (whole ? z.int() : z.number()).check(z.minimum(0));
  const wants = whole ? "a whole number" : "an amount in USD";
  return setting({ name, wants, shape, fallback: null, fromText: asNumber, narrow: lower, bind: lower, ...more });
}

/** A whole number; one beyond `low` or `high` becomes that limit. */
export function wholeNumber(name: string, low: number, high: number, fallback: number): Setting<number> {
  const shape = z.pipe(
    z.int(),
    z.transform((value) => clamp(value, low, high)),
  );
  return setting({ name, wants: `a whole number from ${low} to ${high}`, shape, fallback, fromText: asNumber });
}

export type Texts = readonly string[];
export const joinTexts = (some: Texts, more: Texts): Texts => [...new Set([...some, ...more])];

export const nonEmpty = z.string().check(z.regex(/\S/));
const trimmed = z.transform((text: string) => text.trim());

/** A list of non-blank texts, one a line in a variable or `config set`; empty by default. */
export const listKind = (name: string, more: More<Texts> = {}): Setting<Texts> =>
  setting<Texts>({
    name,
    wants: "a list of texts",
    shape: z.array(nonEmpty),
    fallback: [],
    fromText: asList,
    ...more,
  });

const commandWants = "a command without quotes, or a list of its words";
/** A command as a text without shell syntax, or as a list of its words. */
export const commandShape = z.union(
  [
    z.string().check(z.regex(/^(?=\s*\S)[^"'`$;&|<>()\\\n]+$/, commandWants)),
    z.array(nonEmpty).check(z.minLength(1, commandWants)),
  ],
  commandWants,
);

export const wordsOfCommand = (command: string | Texts): Texts =>
  typeof command === "string" ? command.trim().split(/\s+/) : command;

/** True or false, in a file also "on" or "off", in a text also 1, yes, 0, no; false by default. */
export function switched(name: string, more: More<boolean> = {}): Setting<boolean> {
  const shape = z.pipe(
    z.union([z.boolean(), z.enum(["on", "off"])]),
    z.transform((value) => value === true || value === "on"),
  );
  return setting({ name, wants: "true or false", shape, fallback: false, fromText: asSwitch, ...more });
}

export const textKind = <T extends string | null>(
  name: string,
  wants: string,
  fallback: T,
  { shape = nonEmpty, ...more }: More<string | T> & { readonly shape?: z.ZodMiniType<string> } = {},
): Setting<string | T> =>
  setting<string | T>({ name, wants, shape: z.pipe(shape, trimmed), fallback, fromText: (text) => text, ...more });

const durationWants = "a duration such as 90, 90s or 5m";
const durationText = /^\s*(0*[1-9]\d*(\.\d+)?|0+\.0*[1-9]\d*)[smhSMH]?\s*$/;
/** A duration above 0 as seconds, or as a text: 90, 90s, 5m or 2h. */
export const durationShape = z.union(
  [z.number().check(z.positive(durationWants)), z.string().check(z.regex(durationText, durationWants))],
  durationWants,
);

export function secondsOf(duration: string | number, max: number): number {
  if (typeof duration === "number") return Math.min(duration, max);
  const [, count, unit = "s"] = /^\s*([\d.]+)(\w?)/.exec(duration) ?? [];
  return Math.min(Number(count) * ({ m: 60, h: 3600 }[unit.toLowerCase()] ?? 1), max);
}

export function duration<T extends number | null>(
  name: string,
  max: number,
  fallback: T,
  more: More<number | T> = {},
): Setting<number | T> {
  const seconds = z.transform((given: string | number) => secondsOf(given, max));
  const shape = z.pipe(durationShape, seconds);
  return setting<number | T>({ name, wants: durationWants, shape, fallback, fromText: (text) => text, ...more });
}

/** An object with these fields and no others. `what`: what it is, like "a provider". */
export function objectShape<Shape extends z.core.$ZodLooseShape>(what: string, fields: Shape): z.ZodMiniObject<Shape> {
  const names = Object.keys(fields).join(", ");
  return z.strictObject(fields, {
    error: ({ code }) => (code === "unrecognized_keys" ? `left out: ${what} has ${names}` : `an object with ${names}`),
  }) as unknown as z.ZodMiniObject<Shape>;
}

/** A setting with entries of one shape by names of the user's choice; its faults are named in the words of the shape. */
export function entriesKind(name: string, wants: string, shape: z.ZodMiniType): Setting<Fields> {
  const made = setting({ name, wants, shape: shape as z.ZodMiniType<Fields>, fallback: {}, fromText: asJson });
  return {
    ...made,
    hasEntries: true,
    fault(json) {
      const [issue] = z.safeParse(shape, json).error?.issues ?? [];
      const extra = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
      const path = [...(issue?.path ?? []).map(String), ...extra];
      const inner = issue?.code === "invalid_key" ? issue.issues[0] : issue;
      return { path, wants: path.length === 0 ? wants : (inner?.message ?? wants) };
    },
  };
}

export const choice = <T extends string>(
  name: string,
  values: readonly T[],
  fallback: T,
  more: More<T> = {},
): Setting<T> => {
  const wants = `one of ${values.join(", ")}`;
  const shape = z.enum(values as readonly [T, ...T[]], wants) as unknown as z.ZodMiniType<T>;
  return setting<T>({ name, wants, shape, fallback, fromText: (text) => text.trim(), ...more });
};
