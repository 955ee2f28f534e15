/** Secrets stay home: outwards each is a name, and the name becomes the secret again in what comes back. Pure. */
import { replaceSecrets } from "./key-shapes.ts";

export interface Veil {
  /** The text with every secret-looking value as `<<SECRET_n>>`; the same value has the same name for the whole run. */
  hide(text: string): string;
  reveal(text: string): string;
  /** Both for every text of plain data. */
  hideAll<T>(value: T): T;
  revealAll<T>(value: T): T;
  /** Values that were hidden so far. */
  readonly count: number;
}

const name = /<<SECRET_(\d+)>>/g;

export function createVeil(): Veil {
  const values = new Map<number, string>();
  const numbers = new Map<string, number>();
  let last = 0;
  const nameOf = (value: string): string => {
    let number = numbers.get(value);
    if (number === undefined) {
      do last += 1;
      while (values.has(last));
      number = last;
      values.set(number, value);
      numbers.set(value, number);
    }
    return `<<SECRET_${number}>>`;
  };
  /** A name that stands in the text is taken: it may be that of a secret only an earlier run knew. */
  const hide = (text: string) => {
    for (const [written, number] of text.matchAll(name)) {
      if (!values.has(Number(number))) values.set(Number(number), written);
    }
    return replaceSecrets(text, nameOf);
  };
  const reveal = (text: string) =>
    text.replace(name, (written, number: string) => values.get(Number(number)) ?? written);
  return {
    hide,
    reveal,
    hideAll: (value) => mapTexts(value, hide),
    revealAll: (value) => mapTexts(value, reveal),
    get count() {
      return numbers.size;
    },
  };
}

/** The text with the same mark for every secret and every name of one: what may be told is compared by it. */
export const blankSecrets = (text: string): string =>
  replaceSecrets(text, () => "<<SECRET_0>>").replace(name, "<<SECRET>>");

/** The same plain data with every text in it changed; keys stay. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  const map = (inner: unknown): unknown => {
    if (typeof inner === "string") return change(inner);
    if (Array.isArray(inner)) return inner.map(map);
    if (typeof inner !== "object" || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, part]) => [key, map(part)]));
  };
  return map(value) as T;
}
