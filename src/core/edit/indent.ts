/** Indents REPLACE as the file is, when SEARCH matched with a different indentation. */
import { type FileLines, type IndentUnit, indentOf, isBlank } from "./file-lines.ts";
import type { MergePlace } from "./merge.ts";
import type { Halves } from "./step.ts";

export interface Placement {
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

/** A line that replaces one is shifted as that is, an added one as most lines but the first. */
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

interface IndentPair {
  readonly line: number;
  readonly block: string;
  readonly file: string;
}

type IndentShift = (indent: string) => string | null;

/** Adds the same prefix to every line, or removes it; null when the lines do not agree on one. */
function shiftByPrefix(pairs: readonly IndentPair[]): IndentShift | null {
  const [first] = pairs;
  if (first === undefined) return null;
  if (first.file.endsWith(first.block)) {
    const more = first.file.slice(0, first.file.length - first.block.length);
    return pairs.every((pair) => pair.file === more + pair.block) ? (indent) => more + indent : null;
  }
  if (!first.block.endsWith(first.file)) return null;
  const less = first.block.slice(0, first.block.length - first.file.length);
  if (!pairs.every((pair) => pair.block === less + pair.file)) return null;
  return (indent) => (indent.startsWith(less) ? indent.slice(less.length) : null);
}

/** Levels kept while the unit changes: tabs for spaces, 2 spaces for 4, or back. Null: alike or mixed. */
function shiftByUnits(usual: IndentUnit, pairs: readonly IndentPair[], replace: readonly string[]): IndentShift | null {
  const written = replace.filter((line) => !isBlank(line)).map(indentOf);
  const block = measure([...pairs.map((pair) => pair.block), ...written]);
  const file = measure(pairs.map((pair) => pair.file));
  if (block === null || file === null) return null;
  const blockLeast = Math.min(...pairs.map((pair) => pair.block.length));
  const fileLeast = Math.min(...pairs.map((pair) => pair.file.length));
  const blockStep = step(pairs.map((pair) => pair.block.length - blockLeast));
  const fileStep = step(pairs.map((pair) => pair.file.length - fileLeast));
  const character = file === "" ? usual.character : file;
  // The units follow from the steps in the matched lines; if these have one level, from the whole block and the file.
  const ratio =
    blockStep > 0
      ? fileStep / blockStep
      : usual.width / (step([...written, pairs[0]?.block ?? ""].map((indent) => indent.length)) || usual.width);
  if (!isKnownRatio(ratio, block, character)) return null;
  const sameLevels = pairs.every((pair) => pair.block.length * ratio === pair.file.length);
  const fits = pairs.every((pair) => (pair.block.length - blockLeast) * ratio === pair.file.length - fileLeast);
  if (!fits || (blockStep === 0 && block === character && !sameLevels)) return null;
  return (indent) => {
    const width = fileLeast + (indent.length - blockLeast) * ratio;
    return Number.isInteger(width) && width >= 0 ? character.repeat(width) : null;
  };
}

/** The one character that all indents consist of; "": all are empty; null: they are mixed. */
function measure(indents: readonly string[]): "" | "\t" | " " | null {
  const all = indents.join("");
  if (all === "") return "";
  if (!all.includes("\t")) return " ";
  return all.includes(" ") ? null : "\t";
}

/** The greatest width that divides them all, 0 when all are 0. */
function step(widths: readonly number[]): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  return widths.reduce(divisor, 0);
}

function isKnownRatio(ratio: number, block: string, file: string): boolean {
  if (block === file || block === "") return ratio === 2 || ratio === 0.5;
  const spaces = block === "\t" ? ratio : 1 / ratio;
  return spaces === 1 || spaces === 2 || spaces === 3 || spaces === 4 || spaces === 8;
}
