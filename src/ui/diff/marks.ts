/** Finds the words that differ between a line and its replacement. */
import type { DiffLine } from "./read.ts";

/** Characters from `from` up to, but without, `to`. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

const words = /(?:\p{L}|\p{M}|\p{N}|_)+|\s+|./gsu;
/** Share of the longer line. If more differs, the lines have too little in common to mark anything. */
const maxChanged = 0.7;

function countFrom(lines: readonly DiffLine[], start: number, kind: DiffLine["kind"]): number {
  let end = start;
  while (lines[end]?.kind === kind) end += 1;
  return end - start;
}

type Pair = readonly [before: DiffLine, after: DiffLine];

/** Deleted lines with those that take their place: as many added ones directly behind them. */
function findPairs(lines: readonly DiffLine[]): readonly Pair[] {
  const found: Pair[] = [];
  for (let start = 0; start < lines.length; ) {
    const gone = countFrom(lines, start, "delete");
    const come = countFrom(lines, start + gone, "add");
    const end = start + Math.max(1, gone + come);
    for (let at = start + gone; gone > 0 && gone === come && at < end; at += 1) {
      const [before, after] = [lines[at - gone], lines[at]];
      if (before !== undefined && after !== undefined) found.push([before, after]);
    }
    start = end;
  }
  return found;
}

/** Number of characters that two lists of words share at their start. */
function sharedLength(one: readonly string[], other: readonly string[]): number {
  let length = 0;
  for (const [at, word] of one.entries()) {
    if (word !== other[at]) return length;
    length += word.length;
  }
  return length;
}

/** The differing middle part of each line; null: they have too little in common. */
function diffWords(before: string, after: string): readonly [Range, Range] | null {
  const [old, now] = [before.match(words) ?? [], after.match(words) ?? []];
  const start = sharedLength(old, now);
  const rest = Math.min(before.length, after.length) - start;
  const end = Math.min(sharedLength(old.toReversed(), now.toReversed()), rest);
  const changed = Math.max(before.length, after.length) - start - end;
  if (changed > maxChanged * Math.max(before.length, after.length)) return null;
  return [
    { from: start, to: before.length - end },
    { from: start, to: after.length - end },
  ];
}

/** The differing part of each line in a replacement. */
export function findMarks(lines: readonly DiffLine[]): ReadonlyMap<DiffLine, Range> {
  const marks = new Map<DiffLine, Range>();
  // A note on a missing line feed stands between a last line and the one that replaces it.
  const content = lines.filter(({ kind }) => kind !== "note");
  for (const [before, after] of findPairs(content)) {
    const ranges = diffWords(before.text, after.text);
    if (ranges === null) continue;
    marks.set(before, ranges[0]);
    marks.set(after, ranges[1]);
  }
  return marks;
}
