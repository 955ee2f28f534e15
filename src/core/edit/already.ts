/** Recognises an edit that was already made: the file contains its replacement, and not by coincidence. */

import type { Line } from "../text.ts";
import { type FileLines, findRows, indexLines, isBlank } from "./file-lines.ts";
import { matchEverywhere } from "./inline.ts";
import { type Halves, type Splice, variantsOf } from "./step.ts";
import type { TracedLines } from "./trace.ts";

/** Whether the lines to insert are already there, above, below or among new lines below, and not repeated on purpose. */
export function isInserted(lines: TracedLines, splices: readonly Splice[], halves: Halves): boolean {
  const [only, ...more] = splices;
  if (only === undefined || more.length > 0 || only.start !== only.end) return false;
  const isAt = (row: number) => only.lines.every((line, at) => lines[row + at]?.text.trim() === line.trim());
  if (!isAt(only.start - only.lines.length)) {
    let row = only.start;
    while (!isAt(row)) {
      if (lines[row]?.origin !== null) return false;
      row += 1;
    }
  }
  const known = new Set(halves.search.map((line) => line.trim()));
  return isTelling(only.lines) && !only.lines.some((line) => !isBlank(line) && known.has(line.trim()));
}

/** Whether the splices would leave the file unchanged. */
export function isUnchanged(lines: readonly Line[], splices: readonly Splice[]): boolean {
  return splices.every(
    (splice) =>
      splice.end - splice.start === splice.lines.length &&
      splice.lines.every((line, at) => lines[splice.start + at]?.text === line),
  );
}

/** Whether the file contains REPLACE exactly once, and REPLACE holds something that SEARCH does not. */
export function isReplaced(file: FileLines, halves: Halves): boolean {
  const { search, replace } = variantsOf(halves).at(-1) ?? halves;
  const trimmed = replace.slice(replace.findIndex((line) => !isBlank(line)));
  const known = new Set(search.map((line) => line.trim()));
  const added = trimmed.filter((line) => !known.has(line.trim()));
  const isClosedUp = trimmed.length >= 2 && search[0] === trimmed[0] && search.at(-1) === trimmed.at(-1);
  if (!isTelling(added) && !(added.every(isBlank) && isClosedUp && isTelling(trimmed))) return false;
  if (findRows(file, "indent", trimmed).length === 1) return true;
  const row = trimmed.length === 1 ? matchEverywhere(file, { search: trimmed, replace: [], all: true }) : null;
  return row?.kind === "found" && row.splices.length === 1;
}

/** Whether the file ends with these lines. */
export function isAppended(path: string, lines: readonly string[], added: readonly string[]): boolean {
  if (!isTelling(added)) return false;
  return findRows(indexLines(path, lines.slice(-added.length)), "trailing", added).length === 1;
}

/** Enough letters not to match by chance. */
function isTelling(lines: readonly string[]): boolean {
  return lines.join("").replace(/\s/g, "").length >= 4;
}
