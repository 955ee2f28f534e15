/** Counts the lines that a file lost and gained; lines that only moved are neither. */

import type { Steps } from "../steps.ts";

export type LineCounts = Map<string, number>;

/** The lines that one file lost and gained. Both shrink when lines turn out to have moved. */
export interface Balance {
  readonly gone: number;
  readonly lost: LineCounts;
  readonly gained: LineCounts;
}

/** Data and built code have longer lines, of which an edit changes a word. */
const longLine = 2000;

/** Lines without their `\n`; a carriage return stays. Each part of a very long line counts as a line. */
export function splitParts(text: string): readonly string[] {
  const lines = text.replace(/\n$/, "").split("\n");
  if (!lines.some(({ length }) => length > longLine)) return lines;
  return lines.flatMap((line) => (line.length > longLine ? line.split(/(?<=[,;{}])/) : [line]));
}

function countLines(text: string): LineCounts {
  const counts: LineCounts = new Map();
  for (const line of text === "" ? [] : splitParts(text)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** What `a` has more than `b`, indentation and line ends set aside: moved code is often re-indented. */
function subtract(a: LineCounts, b: LineCounts): LineCounts {
  const rest: LineCounts = new Map();
  for (const [line, count] of a) {
    const more = count - (b.get(line) ?? 0);
    if (more > 0) rest.set(line.trim(), (rest.get(line.trim()) ?? 0) + more);
  }
  return rest;
}

export function balanceOf(old: string, now: string): Balance {
  const [before, after] = [countLines(old), countLines(now)];
  const lost = subtract(before, after);
  return { gone: weighLines(lost, () => 1), lost, gained: subtract(after, before) };
}

function take(counts: LineCounts, line: string, count: number): void {
  const rest = (counts.get(line) ?? 0) - count;
  if (rest > 0) counts.set(line, rest);
  else counts.delete(line);
}

/** Takes up to `wanted` of a line from what others lost; returns how many there were. */
function takeFrom(losers: readonly Balance[], line: string, wanted: number): number {
  let open = wanted;
  for (const { lost } of losers) {
    const moved = Math.min(open, lost.get(line) ?? 0);
    take(lost, line, moved);
    open -= moved;
  }
  return wanted - open;
}

/** Removes from both sides the lines that one file lost and another gained. */
function* settleMoves(balances: readonly Balance[]): Steps<void> {
  const losers = new Map<string, Balance[]>();
  for (const balance of balances) {
    yield;
    for (const line of balance.lost.keys())
      if (losers.get(line)?.push(balance) === undefined) losers.set(line, [balance]);
  }
  for (const balance of balances) {
    yield;
    for (const [line, wanted] of balance.gained) {
      const others = losers.get(line)?.filter((other) => other !== balance) ?? [];
      if (others.length > 0) take(balance.gained, line, takeFrom(others, line, wanted));
    }
  }
}

export function* balanceAll<File extends { readonly old: string | null; readonly now: string | null }>(
  files: readonly File[],
): Steps<ReadonlyMap<File, Balance>> {
  const balances = new Map<File, Balance>();
  for (const file of files) {
    yield;
    balances.set(file, balanceOf(file.old ?? "", file.now ?? ""));
  }
  if (files.length > 1) yield* settleMoves([...balances.values()]);
  return balances;
}

export function weighLines(counts: LineCounts, weigh: (line: string) => number): number {
  let sum = 0;
  for (const [line, count] of counts) sum += count * weigh(line);
  return sum;
}
