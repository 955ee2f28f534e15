/** Indents REPLACE as the file is, when SEARCH matched with a different indentation. */

import { type FileLines, indentOf, isBlank } from "./file-lines.ts";
import { type IndentPair, type IndentShift, shiftByPrefix, shiftByUnits } from "./indent-shift.ts";
import type { MergePlace } from "./merge.ts";
import type { Halves } from "./step.ts";

export interface Placement {
  /** The whole block is shifted alike. */
  readonly uniform: boolean;
  readonly place: MergePlace;
}

/** How the lines of REPLACE are indented, given the file's row (-1: none) for every line of SEARCH. */
export function placeBlock(file: FileLines, rows: readonly number[], halves: Halves): Placement {
  const pairs = pairsOf(file, rows, halves.search);
  const asWritten: MergePlace = (line) => halves.replace[line] ?? "";
  if (pairs.every((pair) => pair.block === pair.file)) return { uniform: true, place: asWritten };
  const shift = shiftByUnits(file.indentUnit(), pairs, halves.replace) ?? shiftByPrefix(pairs);
  if (shift === null) return { uniform: false, place: placeUnevenly(pairs, halves) };
  const meant = indentationMeant(pairs, halves);
  if (meant === "file") return { uniform: true, place: asWritten };
  return { uniform: true, place: (line) => (meant === "block" ? reindent(halves.replace[line] ?? "", shift) : null) };
}

function pairsOf(file: FileLines, rows: readonly number[], search: readonly string[]): readonly IndentPair[] {
  const pairs: IndentPair[] = [];
  for (const [line, text] of search.entries()) {
    const row = rows[line] ?? -1;
    if (row < 0 || isBlank(text)) continue;
    pairs.push({ line, block: indentOf(text), file: indentOf(file.lines[row] ?? "") });
  }
  return pairs;
}

function reindent(line: string, shift: IndentShift): string | null {
  if (isBlank(line)) return line;
  const indent = shift(indentOf(line));
  return indent === null ? null : indent + line.slice(indentOf(line).length);
}

/** Whether REPLACE is indented as SEARCH is, or as the file is already. */
function indentationMeant(pairs: readonly IndentPair[], { search, replace }: Halves): "block" | "file" | "unclear" {
  const written = replace.filter((line) => !isBlank(line));
  const known = new Set(search);
  if (written.length === 0 || written.some((line) => known.has(line))) return "block";
  const [block, file] = [shortest(pairs.map((pair) => pair.block)), shortest(pairs.map((pair) => pair.file))];
  const replaced = shortest(written.map(indentOf));
  if (block === file) return "block";
  if (replaced === file) return "file";
  return block.length < file.length && replaced.length > file.length ? "unclear" : "block";
}

function shortest(indents: readonly string[]): string {
  return indents.reduce((short, indent) => (indent.length < short.length ? indent : short));
}

/**
 * When lines are shifted differently: a line that replaces one line is shifted as that line is, an added line as most
 * lines are. The first line does not count for the others, since models often drop its indentation.
 */
function placeUnevenly(pairs: readonly IndentPair[], { search, replace }: Halves): MergePlace {
  const common = commonShift(pairs.slice(1));
  const byLine = new Map(pairs.map((pair) => [pair.line, pair]));
  const beginsAlike = indentOf(replace[0] ?? "") === indentOf(search[0] ?? "");
  return (line, beside) => {
    const text = replace[line] ?? "";
    const pair = byLine.get(beside ?? (line === 0 && beginsAlike ? 0 : -1));
    if (isBlank(text) || indentOf(text) === pair?.file) return text;
    const shift = pair === undefined ? common : shiftLike(pair);
    return shift === null ? null : reindent(text, shift);
  };
}

function shiftLike(pair: IndentPair): IndentShift {
  return (indent) => (indent === pair.block ? pair.file : (shiftByPrefix([pair])?.(indent) ?? null));
}

/** The shift of more than half of the lines; null: there is none, or flat lines hide the depth of an added line. */
function commonShift(pairs: readonly IndentPair[]): IndentShift | null {
  const distinct = (indents: readonly string[]) => new Set(indents).size;
  if (distinct(pairs.map((pair) => pair.block)) === 1 && distinct(pairs.map((pair) => pair.file)) > 1) return null;
  for (const pair of pairs.slice(0, 50)) {
    const shift = shiftByPrefix([pair]);
    const alike = pairs.filter((other) => shift?.(other.block) === other.file).length;
    if (alike * 2 > pairs.length) return shift;
  }
  return null;
}
