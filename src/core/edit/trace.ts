/** A file while blocks are applied to it: every line knows which line it was in the file that the model saw. */

import { matchLines } from "../line-diff.ts";
import { type Line, mainEnding } from "../text.ts";
import type { Splice } from "./step.ts";

export interface TracedLine extends Line {
  /** Row in the file that the model saw; null for a new line. */
  readonly origin: number | null;
  /** A new line that stays below the line before it. */
  readonly isBelow?: true;
}

export type TracedLines = readonly TracedLine[];

/** The current lines of a file, traced back to the lines that were shown. */
export function traceLines(now: readonly Line[], shown: readonly Line[]): TracedLines {
  if (now === shown) return now.map((line, row) => ({ ...line, origin: row }));
  const texts = (lines: readonly Line[]) => lines.map((line) => line.text);
  const origins = new Map(matchLines(texts(shown), texts(now)).map(([row, at]) => [at, row]));
  return now.map((line, at) => ({ ...line, origin: origins.get(at) ?? null }));
}

/** Turns splices of the shown file into splices of the current file; null: a line they replace has changed since. */
export function translate(splices: readonly Splice[], traced: TracedLines): readonly Splice[] | null {
  const positions: number[] = [];
  for (let at = 0; at < traced.length; at++) {
    const origin = traced[at]?.origin ?? null;
    if (origin !== null) positions[origin] = at;
  }
  const moved: Splice[] = [];
  for (const splice of splices) {
    const { start, end } = splice;
    const first = splice.isBelow ? rowBelow(start, positions, traced) : positions[start];
    const at = first ?? positions[start] ?? insertionPoint(start, end, positions);
    if (at === null) return null;
    for (let row = start; row < end; row++) if (positions[row] !== at + row - start) return null;
    moved.push({ ...splice, start: at, end: at + end - start });
  }
  return moved;
}

/** The row below the line before row `start`, and below what was inserted there already; null: that line is gone. */
function rowBelow(start: number, positions: readonly number[], traced: TracedLines): number | null {
  const above = positions[start - 1];
  if (above === undefined) return null;
  let at = above + 1;
  while (traced[at]?.isBelow === true) at += 1;
  return at;
}

/** Where to insert lines when the line below them is gone: after the line above. null: that one is gone, too. */
function insertionPoint(start: number, end: number, positions: readonly number[]): number | null {
  const above = positions[start - 1];
  return start === end && above !== undefined ? above + 1 : null;
}

/** The lines with splices laid in; new lines take the ending of the line they replace or follow. */
export function applySplices(traced: TracedLines, splices: readonly Splice[]): TracedLines {
  const main = mainEnding(traced);
  const parts: TracedLines[] = [];
  let from = 0;
  for (const { start, end, lines, isBelow } of [...splices].sort((a, b) => a.start - b.start)) {
    parts.push(traced.slice(from, start));
    parts.push(
      lines.map((text, at) => {
        const replaced = start + at < end ? (traced[start + at]?.ending ?? "") : "";
        const beside = traced[end - 1] ?? traced[end];
        return { text, ending: replaced || usableEnding(beside, main), origin: null, ...(isBelow && { isBelow }) };
      }),
    );
    from = end;
  }
  return parts.concat([traced.slice(from)]).flat();
}

/** The ending of a new line, taken from the line beside it; a lone CR is not copied if most lines end otherwise. */
function usableEnding(beside: Line | undefined, main: "\n" | "\r\n" | "\r"): "\n" | "\r\n" | "\r" {
  if (beside === undefined || beside.ending === "") return main;
  return beside.ending === "\r" ? main : beside.ending;
}

export function joinLines(traced: TracedLines, finalEnding: boolean): string {
  const main = mainEnding(traced);
  const last = traced.length - 1;
  return traced
    .map(({ text, ending }, at) => text + (at === last && !finalEnding ? "" : ending === "" ? main : ending))
    .join("");
}
