/** Step 9: SEARCH leaves out blank lines or comments of the file, and nothing else. */
import { findComments } from "./edit-comments.ts";
import { matchAt } from "./edit-line-steps.ts";
import type { Halves, Match } from "./edit-match.ts";
import { findRuns, isBlank, type View } from "./edit-view.ts";

/** More places than this with the same code are ambiguous when one of them fits. */
const enoughStarts = 20;

const note = "keeping the blank lines and comments that SEARCH leaves out";

export function matchSkipping(view: View, halves: Halves): Match | null {
  const { search } = halves;
  const comments = findComments(view.path, view.lines);
  const searchComments = findComments(view.path, search);
  const code = search.flatMap((line, at) => (isBlank(line) || searchComments.has(at) ? [] : [at]));
  const rows = view.lines.flatMap((line, row) => (isBlank(line) || comments.has(row) ? [] : [row]));
  if (code.length < 2) return null;
  const keys = view.keys("indent");
  const starts = findRuns(
    rows.map((row) => keys[row] ?? -2),
    code.map((at) => view.keyOf("indent", search[at] ?? "")),
  );
  const candidates = starts.slice(0, enoughStarts).flatMap((start) => {
    const found = alignRows(view, search, new Map(code.map((at, index) => [at, rows[start + index] ?? -1])));
    return found === null ? [] : [found];
  });
  const [only] = candidates;
  if (only === undefined) return null;
  if (candidates.length === 1 && starts.length <= enoughStarts) return matchAt(view, only, halves, note);
  return { kind: "ambiguous", rows: candidates.map((found) => found.find((row) => row >= 0) ?? 0), note };
}

/**
 * Rows for every line of SEARCH: code where it was found, comments and blanks where they stand around it.
 * A blank line that the file lacks is -1; a comment that it lacks makes the whole null.
 */
function alignRows(view: View, search: readonly string[], code: ReadonlyMap<number, number>): readonly number[] | null {
  const keys = view.keys("indent");
  const [first = 0] = code.keys();
  const ends = search.map((_, at) => code.get(at) ?? -1);
  let limit = Math.max(...code.values()) + 1 + search.length;
  for (let at = ends.length - 1; at >= 0; at--) {
    if (code.has(at)) limit = code.get(at) ?? limit;
    ends[at] = limit;
  }
  const rows: number[] = [];
  let next = Math.max(0, (code.get(first) ?? 0) - first);
  for (const [at, line] of search.entries()) {
    const wanted = view.keyOf("indent", line);
    const row = code.get(at) ?? keys.slice(next, ends[at]).indexOf(wanted);
    const found = code.has(at) || row < 0 ? row : next + row;
    if (found < 0 && !isBlank(line)) return null;
    rows.push(found);
    if (found >= 0) next = found + 1;
  }
  return rows;
}
