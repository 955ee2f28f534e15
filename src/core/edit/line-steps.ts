/** The lines of SEARCH occur in the file consecutively, except for blanks, indentation, typography; REPLACE is indented as the file is. */

import { editsBetween, matchLines } from "../line-diff.ts";
import { type FileLines, findRows, type IndentUnit, indentOf, isBlank, type Level } from "./file-lines.ts";
import { type Halves, type Match, type Splice, type Step, variantsOf } from "./step.ts";

interface LineStep {
  readonly level: Level;
  readonly note: string | null;
  /** SEARCH ALL takes every candidate. */
  readonly many: boolean;
  /** Whether a candidate counts; null: all of them do. */
  readonly accepts: ((placement: Placement, halves: Halves) => boolean) | null;
}

const steps: readonly LineStep[] = [
  { level: "exact", note: null, many: true, accepts: null },
  { level: "trailing", note: "ignoring trailing blanks", many: true, accepts: null },
  { level: "indent", note: "ignoring indentation", many: true, accepts: (placement) => placement.uniform },
  {
    level: "indent",
    note: "ignoring uneven indentation",
    many: true,
    accepts: (_, halves) => isKnownAnywhere(halves.search),
  },
  { level: "unicode", note: "ignoring typographic characters", many: false, accepts: null },
  { level: "spaces", note: "ignoring spaces inside lines", many: false, accepts: null },
];

export const lineSteps: readonly Step[] = steps.map(
  (step): Step =>
    (file, halves) => {
      for (const variant of variantsOf(halves)) {
        const match = matchAtLevel(file, variant, step);
        if (match !== null) return match;
      }
      return null;
    },
);

/** Steps 1 to 3, for parts of a block. */
export const strictSteps: readonly Step[] = lineSteps.slice(0, 3);

export function matchLoosely(ladder: readonly Step[], file: FileLines, halves: Halves): Match | null {
  for (const step of ladder) {
    const match = step(file, halves);
    if (match !== null) return match;
  }
  return null;
}

/** The match for a SEARCH whose lines are at these rows (-1: not in the file), with REPLACE indented and merged. */
export function matchAt(file: FileLines, rows: readonly number[], halves: Halves, note: string | null): Match {
  const splices = layOver(rows, halves, placeBlock(file, rows, halves).place);
  const known = rows.filter((row) => row >= 0);
  const span = [known[0] ?? 0, (known.at(-1) ?? -1) + 1] as const;
  return splices === null ? { kind: "unplaceable", span } : { kind: "found", splices, span, note };
}

/** With more candidates than this, the match is ambiguous, and their indentation is not compared. */
const enoughCandidates = 200;

function matchAtLevel(file: FileLines, halves: Halves, { level, note, many, accepts }: LineStep): Match | null {
  const found = findRows(file, level, halves.search);
  const areAllMeant = (rows: readonly number[]) => halves.all && many && areApart(rows, halves);
  if (found.length > enoughCandidates && !areAllMeant(found)) return { kind: "ambiguous", rows: found, note };
  const rows =
    accepts === null ? found : found.filter((row) => accepts(placeBlock(file, rowsFrom(row, halves), halves), halves));
  const [row] = rows;
  if (row === undefined) return null;
  if (rows.length === 1) return matchAt(file, rowsFrom(row, halves), halves, note);
  if (areAllMeant(rows)) return matchRows(file, rows, halves, note);
  return { kind: "ambiguous", rows, note };
}

const areApart = (rows: readonly number[], { search }: Halves): boolean =>
  rows.every((row, at) => at === 0 || row - (rows[at - 1] ?? 0) >= search.length);

const rowsFrom = (row: number, { search }: Halves): readonly number[] => search.map((_, line) => row + line);

function matchRows(file: FileLines, starts: readonly number[], halves: Halves, note: string | null): Match {
  const matches = starts.map((row) => matchAt(file, rowsFrom(row, halves), halves, note));
  const splices = matches.flatMap((match) => (match.kind === "found" ? match.splices : []));
  const span = [starts[0] ?? 0, (starts.at(-1) ?? 0) + halves.search.length] as const;
  return matches.find((match) => match.kind !== "found") ?? { kind: "found", splices, span, note };
}

const isKnownAnywhere = (search: readonly string[]): boolean =>
  search.length >= 2 || (search[0]?.trim().length ?? 0) >= 6;

/** Line `line` of REPLACE, indented. `beside`: the line of SEARCH that it replaces. Null: a guess. */
type Place = (line: number, beside: number | null) => string | null;

/** REPLACE laid over the matched lines: those that both halves share stay as they are in the file. `rows`: the file's row for every line of SEARCH, ascending, -1 for none. Null when a line cannot be placed. */
function layOver(rows: readonly number[], { search, replace }: Halves, place: Place): readonly Splice[] | null {
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

interface Placement {
  readonly uniform: boolean;
  readonly place: Place;
}

function placeBlock(file: FileLines, rows: readonly number[], halves: Halves): Placement {
  const pairs = pairsOf(file, rows, halves.search);
  const asWritten: Place = (line) => halves.replace[line] ?? "";
  if (pairs.every((pair) => pair.block === pair.file)) return { uniform: true, place: asWritten };
  const shift = shiftByUnits(file.indentUnit(), pairs, halves.replace) ?? shiftByPrefix(pairs);
  if (shift === null) return { uniform: false, place: placeUnevenly(pairs, halves) };
  const meant = indentationMeant(pairs, halves);
  if (meant === "file") return { uniform: true, place: asWritten };
  return { uniform: true, place: (line) => (meant === "block" ? reindent(halves.replace[line] ?? "", shift) : null) };
}

function pairsOf(file: FileLines, rows: readonly number[], search: readonly string[]) {
  return search.flatMap((text, line) => {
    const row = rows[line] ?? -1;
    return row < 0 || isBlank(text) ? [] : [{ line, block: indentOf(text), file: indentOf(file.lines[row] ?? "") }];
  });
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

const shortest = (indents: readonly string[]): string =>
  indents.reduce((short, indent) => (indent.length < short.length ? indent : short));

/** A line that replaces one is shifted as that is, an added one as most lines but the first. */
function placeUnevenly(pairs: readonly IndentPair[], { search, replace }: Halves): Place {
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

type IndentPair = ReturnType<typeof pairsOf>[number];

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
