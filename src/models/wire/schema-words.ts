/** The description of a JSON Schema, with limits in words where a dialect of schemas has no keyword for them. */
import { type Fields, text } from "./fields.ts";

/** In words, with # in the place of the value. */
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

/** Limits that the dialect has a keyword for. */
export type KeptLimits = readonly (keyof typeof limits)[];

/** The schema's own description, then `first` and its limits in brackets; "" for neither. */
export function describeInWords(schema: Fields, kept: KeptLimits, first: readonly string[] = []): string {
  const told = Object.entries(limits)
    .filter(([key]) => key in schema && !(kept as readonly string[]).includes(key) && isTelling(schema[key]))
    .map(([key, words]) => words.replace("#", () => String(schema[key])));
  const words = [...first, ...told];
  const rest = words.length === 0 ? "" : `(${words.join("; ")})`;
  return [text(schema["description"]), rest].filter(Boolean).join(" ");
}

/** Not the limits of exact integers that schema makers add everywhere, nor a page of pattern. */
function isTelling(value: unknown): boolean {
  return Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER && String(value).length <= 100;
}
