/** Which lines of two texts are the same: the alignment that line counts and diffs are made from. */
import { diffArrays } from "diff/lib/diff/array.js";

/** A kept line: its index in the old text and in the new one; both ascending, from 0. */
export type KeptLine = readonly [oldIndex: number, newIndex: number];

/** Lines that another stretch of lines replaces; either may be empty. Indexes from 0, `To` after the last. */
export interface LineEdit {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

export function editsBetween(kept: readonly KeptLine[], old: number, now: number): readonly LineEdit[] {
  const edits: LineEdit[] = [];
  let [oldFrom, newFrom] = [0, 0];
  for (const [oldTo, newTo] of [...kept, [old, now] as const]) {
    if (oldTo > oldFrom || newTo > newFrom) edits.push({ oldFrom, oldTo, newFrom, newTo });
    oldFrom = oldTo + 1;
    newFrom = newTo + 1;
  }
  return edits;
}

/** Lines with their line ends; only `\n` ends a line, so a carriage return belongs to its line. */
export const splitLines = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+/g) ?? [];

/** The longest common subsequence; beyond 1,500 differing shared lines or 400 ms only the common beginning and end. */
export function matchLines(old: readonly string[], now: readonly string[]): readonly KeptLine[] {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  const shorter = Math.min(old.length, now.length) - head;
  while (tail < shorter && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;

  const matches: KeptLine[] = [];
  for (let i = 0; i < head; i++) matches.push([i, i]);
  const oldShared = findShared(old, head, old.length - tail, new Set(now.slice(head, now.length - tail)));
  const newShared = findShared(now, head, now.length - tail, new Set(old.slice(head, old.length - tail)));
  const { lines } = oldShared;
  for (const [i, j] of matchShared(lines, newShared.lines)) {
    matches.push([oldShared.positions[i] ?? 0, newShared.positions[j] ?? 0]);
  }
  for (let i = tail; i > 0; i--) matches.push([old.length - i, now.length - i]);
  return matches;
}

function findShared(all: readonly string[], from: number, to: number, other: ReadonlySet<string>) {
  const lines: string[] = [];
  const positions: number[] = [];
  for (let at = from; at < to; at++) {
    const line = all[at] ?? "";
    if (!other.has(line)) continue;
    lines.push(line);
    positions.push(at);
  }
  return { lines, positions };
}

/** Aligns two lists in which every line of one also occurs in the other; none are aligned where it would take too long. */
function matchShared(old: readonly string[], now: readonly string[]): readonly KeptLine[] {
  if (old.length <= 1 && now.length <= 1) return old.length === 0 ? [] : [[0, 0]];
  const parts = diffArrays([...old], [...now], { maxEditLength: 1500, timeout: 400 });
  if (parts === undefined) return [];
  const matches: KeptLine[] = [];
  let i = 0;
  let j = 0;
  for (const { added, removed, count } of parts) {
    if (added) j += count;
    else if (removed) i += count;
    else for (const end = i + count; i < end; i++, j++) matches.push([i, j]);
  }
  return matches;
}
