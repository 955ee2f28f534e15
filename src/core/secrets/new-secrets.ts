/** Key-shaped text that a change brings in. Pure. */
import { findSpans, replaceSecrets } from "./key-shapes.ts";

/** Where a secret stands and what it is; nothing of its text, since models are told of it. */
export interface Secret {
  /** 1-based. */
  readonly line: number;
  readonly kind: string;
}

const documented = /example/i;

export const standsIn = (text: string, value: string): boolean =>
  text.includes(value) && new RegExp(`(?<![A-Za-z0-9])${RegExp.escape(value)}(?![A-Za-z0-9])`).test(text);

/**
 * Whether a text holds a value as a secret of its own, or in full view. A part of a secret does not count: a yes would
 * confirm a guess, letter by letter.
 */
export function openHolding(text: string): (value: string) => boolean {
  const own = new Set(findSpans(text).map(({ start, end }) => text.slice(start, end)));
  const inView = replaceSecrets(text, () => "\0");
  return (value) => own.has(value) || standsIn(inView, value);
}

/** Key-shaped text that was not held before, without documented examples and without what may as well be a word. */
export function newSecrets(wasHeld: (value: string) => boolean, after: string): readonly Secret[] {
  const secrets: Secret[] = [];
  let line = 1;
  let from = 0;
  for (const span of findSpans(after)) {
    const value = after.slice(span.start, span.end);
    line += after.slice(from, span.start).split("\n").length - 1;
    from = span.start;
    if (span.isLocal !== true && !documented.test(value) && !wasHeld(value)) secrets.push({ line, kind: span.kind });
  }
  return secrets;
}

export const findSecrets = (text: string): readonly Secret[] => newSecrets(() => false, text);
