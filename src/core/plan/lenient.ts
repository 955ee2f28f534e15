/** Reads fields of a model's JSON leniently: a number as a text, one text as a list, null as nothing. */
import * as z from "zod/mini";

/** How many wrappers around a value are opened at most. */
export const maxWraps = 5;

/** A value as text; of a list or an object, all its texts joined. */
export function toText(value: unknown, depth = 0): string {
  if (typeof value !== "object" || value === null) return value == null ? "" : String(value);
  const said = depth > maxWraps ? [] : Object.values(value).map((each) => toText(each, depth + 1));
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

/** A schema that first has `plain` turn the written value into one that `schema` accepts. */
export const leniently = <Schema extends z.ZodMiniType>(plain: (value: unknown) => unknown, schema: Schema) =>
  z.pipe(z.transform(plain), schema);

export const text = leniently((value) => toText(value), z.string());
export const texts = leniently((value) => toList(value).map((each) => toText(each)), z.array(z.string()));
export const commands = leniently((value) => toList(value).map(toTarget), z.array(z.string()));
const paths = leniently(
  (value) =>
    toList(value)
      .map(toTarget)
      .map((each) => (typeof each === "string" ? barePath(each) : each)),
  z.array(z.string()),
);

/** The lists of files in a plan and a schedule, in the order in which models are asked for them. */
export const fileLists = {
  files_to_read: paths,
  files_to_create: paths,
  files_to_modify: paths,
  files_to_delete: paths,
};

/** An object of this shape, or null for anything else. */
export const filled = <Shape extends z.core.$ZodShape>(shape: Shape) =>
  leniently(
    (value) => (typeof value === "object" && value !== null && !Array.isArray(value) ? value : null),
    z.nullable(z.object(shape)),
  );

/** The one of these words that the value holds, in any case; with none or several of them, the fallback. */
const wordOf = <const Words extends readonly [string, ...string[]]>(words: Words, fallback: Words[number]) =>
  leniently((value) => {
    const written = new Set(
      toText(value)
        .toLowerCase()
        .match(/\p{L}+/gu),
    );
    const found = words.filter((word) => written.has(word));
    return found.length === 1 ? found[0] : fallback;
  }, z.enum(words));

export const complexity = wordOf(["simple", "moderate", "complex"], "moderate");
