/** Describes a JSON Schema; limits for which the dialect has no keyword are put in words. */
import { textIn, type WireFields } from "./fields.ts";

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

/** Limits that the dialect has a keyword for. */
export type KeptLimits = readonly (keyof typeof limits)[];

/** The schema's own description, then `first` and its limits in brackets; "" for neither. */
export function describeInWords(schema: WireFields, kept: KeptLimits, first: readonly string[] = []): string {
  const worded = Object.entries(limits)
    .filter(([key]) => key in schema && !(kept as readonly string[]).includes(key) && isTelling(schema[key]))
    .map(([key, words]) => words.replace("#", () => String(schema[key])));
  const words = [...first, ...worded];
  const rest = words.length === 0 ? "" : `(${words.join("; ")})`;
  return [textIn(schema["description"]), rest].filter(Boolean).join(" ");
}

/** Whether a limit is worth telling: not the limits of safe integers, which libraries add, and no long pattern. */
function isTelling(value: unknown): boolean {
  return Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER && String(value).length <= 100;
}
