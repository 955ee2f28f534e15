/** The input and the result of a step of the edit ladder: the halves of a block, and where it matches. */
import type { FileLines } from "./file-lines.ts";

export interface Halves {
  readonly search: readonly string[];
  readonly replace: readonly string[];
  /** The block begins with SEARCH ALL: every occurrence is meant. */
  readonly all: boolean;
}

/** Rows `start` up to but not including `end` become these lines; `start === end` inserts before `start`. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
  /** An insertion below the last line of SEARCH: it stays there, whatever else is inserted above the next line. */
  readonly isBelow?: true;
}

export type EditSpan = readonly [from: number, to: number];

export type Match =
  | {
      readonly kind: "found";
      readonly splices: readonly Splice[];
      readonly span: EditSpan;
      readonly note: string | null;
    }
  /** Rows of the candidates, from 0. */
  | { readonly kind: "ambiguous"; readonly rows: readonly number[]; readonly note: string | null }
  /** Found, but the replacement's indentation there would be a guess. */
  | { readonly kind: "unplaceable"; readonly span: EditSpan };

/** One step of the ladder; after null, the next, looser step is tried. */
export type Step = (file: FileLines, halves: Halves) => Match | null;

/** A block, and the block without the blank lines at its edges when it has some. */
export function variantsOf(halves: Halves): readonly Halves[] {
  const { search, replace } = halves;
  const head = blankRun(search);
  const tail = head === search.length ? 0 : blankRun([...search].reverse());
  if (head + tail === 0 || head === search.length) return [halves];
  const replaceHead = Math.min(head, blankRun(replace));
  const replaceTail = Math.min(tail, blankRun([...replace.slice(replaceHead)].reverse()));
  const trimmed = {
    search: search.slice(head, search.length - tail),
    replace: replace.slice(replaceHead, replace.length - replaceTail),
    all: halves.all,
  };
  return [halves, trimmed];
}

function blankRun(lines: readonly string[]): number {
  const first = lines.findIndex((line) => line.trim() !== "");
  return first === -1 ? lines.length : first;
}
