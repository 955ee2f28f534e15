/** What stands out in changed lines: the words that differ between an old line and its new one. */
import type { Style } from "./style.ts";

export interface Range {
  readonly from: number;
  readonly to: number;
}

const words = /[\p{L}\p{M}\p{N}_]+|\s+|[^\p{L}\p{M}\p{N}_\s]/gu;
/** Where more than this of a line differs, it is another line. */
const mostChanged = 0.7;

/** How many characters two lists of words share at their start. */
function sharedLength(one: readonly string[], other: readonly string[]): number {
  let length = 0;
  for (const [at, word] of one.entries()) {
    if (word !== other[at]) return length;
    length += word.length;
  }
  return length;
}

/** The middle in which two lines differ, in each of them; null: they have little in common. */
export function diffWords(before: string, after: string): readonly [Range, Range] | null {
  const [old, now] = [before.match(words) ?? [], after.match(words) ?? []];
  const start = sharedLength(old, now);
  const rest = Math.min(before.length, after.length) - start;
  const end = Math.min(sharedLength(old.toReversed(), now.toReversed()), rest);
  const ranges = [before, after].map((text) => ({ from: start, to: text.length - end }));
  const [gone, come] = ranges;
  const changed = Math.max(before.length, after.length) - start - end;
  if (gone === undefined || come === undefined || changed > mostChanged * Math.max(before.length, after.length))
    return null;
  return [gone, come];
}

/** Marks a range of a text that may be coloured already; the range counts what is shown. */
export function markRange(text: string, { from, to }: Range, style: Style): string {
  if (!style.color || from >= to) return text;
  const [on, off] = ["\x1b[7m", "\x1b[27m"];
  let shown = 0;
  let marked = "";
  for (const [part] of text.matchAll(/\x1b\[[\d;]*m|[^\x1b]+/g)) {
    if (part.startsWith("\x1b")) {
      marked += part;
      continue;
    }
    const [start, end] = [from, to].map((edge) => Math.min(Math.max(edge - shown, 0), part.length));
    const inside = part.slice(start, end);
    marked += part.slice(0, start) + (inside === "" ? "" : on + inside + off) + part.slice(end);
    shown += part.length;
  }
  return marked;
}
