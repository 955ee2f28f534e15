/** Fields of a model's JSON, read by their one plain meaning: numbers as texts, one text for a list, null for nothing. */
import * as z from "zod/mini";

export const toText = (value: unknown): string =>
  typeof value === "string" ? value : value == null ? "" : String(value);
export const toList = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value == null || value === "" ? [] : [value];

/** `plain` turns whatever was written into what `schema` takes. */
export const leniently = <Schema extends z.ZodMiniType>(plain: (value: unknown) => unknown, schema: Schema) =>
  z.pipe(z.transform(plain), schema);

export const text = leniently(toText, z.string());
export const texts = leniently((value) => toList(value).map(toText), z.array(z.string()));

/** An object of this shape, or null for anything that is none. */
export const filled = <Shape extends z.core.$ZodShape>(shape: Shape) =>
  leniently(
    (value) => (typeof value === "object" && value !== null && !Array.isArray(value) ? value : null),
    z.nullable(z.object(shape)),
  );

/** The one of these words that was written, in any case and among others; anything else is the fallback. */
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
