/** Merges an edit into the lines it matched: lines that SEARCH and REPLACE share stay as they are in the file. */

import { editsBetween, matchLines } from "../line-diff.ts";
import type { Halves, Splice } from "./step.ts";

/** Line `line` of REPLACE, indented. `beside`: the line of SEARCH that it replaces. Null: a guess. */
export type MergePlace = (line: number, beside: number | null) => string | null;

/** `rows`: the file's row for every line of SEARCH, ascending, -1 for none. Null when a line cannot be placed. */
export function layOver(
  rows: readonly number[],
  { search, replace }: Halves,
  place: MergePlace,
): readonly Splice[] | null {
  const splices: Splice[] = [];
  const edits = editsBetween(matchLines(search, replace), search.length, replace.length);
  for (const { oldFrom: from, oldTo: to, newFrom, newTo } of edits) {
    const even = to - from === newTo - newFrom;
    const lines: string[] = [];
    for (let line = newFrom; line < newTo; line++) {
      const text = place(line, even ? from + line - newFrom : null);
      if (text === null) return null;
      lines.push(text);
    }
    const taken = rows.slice(from, to).filter((row) => row >= 0);
    if (taken.length > 0) splices.push(...replaceRows(taken, lines));
    else if (lines.length > 0) splices.push(insertion(rows, from, lines));
  }
  return splices;
}

/** Lines to insert after the last matched row above, so that a skipped comment stays with the line below it. */
function insertion(rows: readonly number[], before: number, lines: readonly string[]): Splice {
  const above = rows.slice(0, before).findLast((row) => row >= 0);
  const below = rows.slice(before).find((row) => row >= 0);
  const row = above !== undefined ? above + 1 : (below ?? 0);
  return { start: row, end: row, lines, ...(above !== undefined && below === undefined && { isBelow: true }) };
}

/** Replaces row by row; lines of the file that were skipped in between stay. */
function replaceRows(rows: readonly number[], lines: readonly string[]): readonly Splice[] {
  const splices: Splice[] = [];
  let used = 0;
  for (let first = 0; first < rows.length; ) {
    let last = first;
    while (last + 1 < rows.length && rows[last + 1] === (rows[last] ?? 0) + 1) last++;
    const upTo = last === rows.length - 1 ? lines.length : used + last - first + 1;
    const start = rows[first] ?? 0;
    splices.push({ start, end: start + last - first + 1, lines: lines.slice(used, upTo) });
    used = Math.min(upTo, lines.length);
    first = last + 1;
  }
  return splices;
}
