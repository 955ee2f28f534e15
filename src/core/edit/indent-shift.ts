/** Functions from a block's indentation to the file's: a prefix more or less, tabs for spaces, 2 spaces for 4. */
import { type IndentUnit, indentOf, isBlank } from "./file-lines.ts";

/** Indentation of one line in the block and in the file. */
export interface IndentPair {
  readonly line: number;
  readonly block: string;
  readonly file: string;
}

/** Null when the indentation has no counterpart. */
export type IndentShift = (indent: string) => string | null;

/** Adds the same prefix to every line, or removes it; null when the lines do not agree on one. */
export function shiftByPrefix(pairs: readonly IndentPair[]): IndentShift | null {
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

/**
 * Levels kept while the unit changes: tabs for spaces, 2 spaces for 4, or back. Null when both sides use the same
 * unit, when a side mixes tabs and spaces, or when the levels do not fit.
 */
export function shiftByUnits(
  usual: IndentUnit,
  pairs: readonly IndentPair[],
  replace: readonly string[],
): IndentShift | null {
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
