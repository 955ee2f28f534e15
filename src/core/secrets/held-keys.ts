/** Masks the keys that pai holds in everything it shows and stores, in every spelling. */

import { mapTexts } from "../map-texts.ts";
import { createKnownTexts } from "./known-texts.ts";
import { spellingsOf } from "./spellings.ts";
import type { Veil } from "./veil.ts";

/** The same value with every text in it masked. Values are plain data. */
export type Mask = <T>(value: T) => T;

/** A mask that also works on a text in pieces. */
export type KeyMask = Mask & {
  /** Masks one text. */
  readonly text: (text: string) => string;
  /** How many characters at the end of the text may be the beginning of a key. */
  readonly begun: (text: string) => number;
  /** The keys themselves, for code that hides them in what it sends. */
  readonly keys: readonly string[];
  /** Masks one more key from now on. */
  readonly hold: (key: string) => void;
  /** Calls the listener with every key that is held later. */
  readonly onHeld: (listener: (key: string) => void) => void;
};

/** Masking shorter keys, or a word such as `password` that a local server takes as its key, would damage texts. */
const minKey = 8;
const word = /^[a-z]{1,15}$/i;

/** Whether the key can be masked wherever it stands. */
export const isHeld = (key: string): boolean => key.length >= minKey && !word.test(key);

/** Masks these keys in all spellings; words and keys under `minKey` characters are ignored. */
export function maskHeld(keys: readonly string[]): KeyMask {
  const held: string[] = [];
  const known = createKnownTexts();
  const listeners = new Set<(key: string) => void>();
  const hold = (key: string): void => {
    if (!isHeld(key) || held.includes(key)) return;
    held.push(key);
    const shown = key.length < 16 ? "[masked]" : `${key.slice(0, 4)}…[masked]`;
    for (const spelling of spellingsOf(key)) known.add(spelling, () => shown);
    for (const listener of listeners) listener(key);
  };
  for (const key of keys) hold(key);
  const mask = <T>(value: T): T => (held.length === 0 ? value : mapTexts(value, known.replace));
  const onHeld = (listener: (key: string) => void) => void listeners.add(listener);
  return Object.assign(mask, { text: known.replace, begun: known.begun, keys: held, hold, onHeld });
}

/** The mask for everything that leaves a run: keys are masked, other secrets are replaced by their names. */
export function coverAll(keys: KeyMask, veil: Veil): KeyMask {
  // Most texts hold no secret, and a veil that knows the keys finds that out in one search.
  const isVeiled = () => keys.keys.every(veil.knows);
  const text = (given: string) => {
    const covered = veil.coverText(given);
    return isVeiled() && covered === given ? given : veil.coverText(keys.text(given));
  };
  return Object.assign(<T>(value: T): T => mapTexts(value, text), {
    text,
    begun: (given: string) => (isVeiled() ? veil.begun(given) : Math.max(keys.begun(given), veil.begun(given))),
    keys: keys.keys,
    hold: keys.hold,
    onHeld: keys.onHeld,
  });
}
