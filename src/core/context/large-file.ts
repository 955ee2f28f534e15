/** Chooses which lines of one large file are shown to the model that changes it. Pure. */
import { cutBlocks, linesOf } from "./blocks.ts";
import { chooseExcerpts, type ExcerptRange } from "./excerpts.ts";
import { findSignals } from "./signals.ts";
import { countTerm, type Term, termsOf } from "./words.ts";

/** Characters of the blocks that match the request. */
const chosenBudget = 16_000;
/** `chooseExcerpts` gives one file at most this share of its budget. */
const shareOfOne = 0.8;
/** Characters of the ranges that the model has read. */
const lookedBudget = 24_000;

export interface LargeFile {
  readonly path: string;
  readonly text: string;
  /** What is to be done. */
  readonly request: string;
  /** Output of checks and other text that may name lines of the file. */
  readonly output: string;
  /** Ranges that the model has read. */
  readonly looked: readonly ExcerptRange[];
  /** Lines, from 1, around which something was changed. */
  readonly changed: readonly number[];
}

export interface Parts {
  /** In order; empty: the lines are too long. */
  readonly ranges: readonly ExcerptRange[];
  readonly outline: string;
  /** Ranges that the model has read and that did not fit. */
  readonly left: readonly ExcerptRange[];
}

/** By term: its weight times its rarity among the blocks of the file. */
function valuesOf(path: string, lines: readonly string[], terms: readonly Term[]): number[] {
  const blocks = cutBlocks(path, lines).map(({ from, to }) =>
    lines
      .slice(from - 1, to)
      .join("\n")
      .toLowerCase(),
  );
  return terms.map((term) => {
    const holding = blocks.filter((block) => countTerm(block, term, 1) > 0).length;
    return term.weight * Math.log(1 + (blocks.length - holding + 0.5) / (holding + 0.5));
  });
}

/** Sorts the ranges, and joins those that touch or overlap. */
function mergeRanges(ranges: readonly ExcerptRange[]): ExcerptRange[] {
  const merged: ExcerptRange[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last.to + 1) merged[merged.length - 1] = { ...last, to: Math.max(last.to, to) };
    else merged.push({ from, to });
  }
  return merged;
}

/** Splits the ranges into those that fit and the rest; the latest come first. */
function fitLooked(
  lines: readonly string[],
  looked: readonly ExcerptRange[],
): { kept: ExcerptRange[]; left: ExcerptRange[] } {
  const kept: ExcerptRange[] = [];
  const left: ExcerptRange[] = [];
  let room = lookedBudget;
  for (const { from, to: end } of looked.toReversed()) {
    const to = Math.min(end, lines.length);
    if (from > to) continue;
    const size = lines.slice(from - 1, to).reduce((sum, line) => sum + line.length + 1, 0);
    if (size > room) left.push({ from, to });
    else {
      room -= size;
      kept.push({ from, to });
    }
  }
  return { kept, left };
}

/** The outline of a large file, the blocks that match the request, the lines that outputs name, and the ranges read. */
export function chooseParts({ path, text, request, output, looked, changed }: LargeFile): Parts {
  const lines = linesOf(text);
  const terms = termsOf(request, output);
  const named = findSignals(request, output, [path]).get(path)?.lines ?? [];
  const signal = {
    weight: 1,
    lines: [...named, ...changed],
    by: "request",
  } as const;
  const [excerpt] = chooseExcerpts(
    [{ ranked: { path, score: 1, signal }, text }],
    { terms, values: valuesOf(path, lines, terms) },
    Math.floor(chosenBudget / shareOfOne),
  );
  const { kept, left } = fitLooked(lines, looked);
  const ranges = mergeRanges([...(excerpt?.ranges ?? []), ...kept]);
  return { ranges, outline: excerpt?.outline ?? "", left };
}
