/** Secrets stay home: outwards each is a name, and the name becomes the secret again in what comes back. Pure. */
import type { Json } from "./model.ts";
import { replaceSecrets } from "./secret.ts";

export interface Veil {
  /** The text with every secret-looking value as `<<SECRET_n>>`; the same value has the same name for the whole run. */
  hide(text: string): string;
  reveal(text: string): string;
  hideJson(value: Json): Json;
  revealJson(value: Json): Json;
  /** Values that were hidden so far. */
  readonly count: number;
}

const name = /<<SECRET_(\d+)>>/g;

export function createVeil(): Veil {
  const values: string[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (value: string): number => {
    const known = numbers.get(value);
    if (known !== undefined) return known;
    values.push(value);
    numbers.set(value, values.length);
    return values.length;
  };
  const hide = (text: string) => replaceSecrets(text, (value) => `<<SECRET_${numberOf(value)}>>`);
  const reveal = (text: string) =>
    text.replace(name, (written, number: string) => values[Number(number) - 1] ?? written);
  return {
    hide,
    reveal,
    hideJson: (value) => mapTexts(value, hide),
    revealJson: (value) => mapTexts(value, reveal),
    get count() {
      return values.length;
    },
  };
}

/** The value with every text in it changed; keys stay. */
function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((inner) => mapTexts(inner, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, change)]));
}
