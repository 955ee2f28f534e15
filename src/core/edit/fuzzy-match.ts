/** Finds where an edit belongs, exactly at first, then step by step (1 to 12) more fuzzily. It never guesses. */

import { matchExactText } from "./exact-text.ts";
import type { FileLines } from "./file-lines.ts";
import { matchEverywhere, matchInline } from "./inline.ts";
import { lineSteps, matchLoosely } from "./line-steps.ts";
import { matchNearly } from "./near.ts";
import { matchElided, matchEscaped, matchNumbered } from "./odd-copies.ts";
import { matchSkipping } from "./skipped.ts";
import type { Halves, Match, Step } from "./step.ts";

const ladder: readonly Step[] = [
  matchEverywhere,
  ...lineSteps.slice(0, 1),
  matchExactText,
  ...lineSteps.slice(1),
  matchNumbered,
  matchElided,
  matchSkipping,
  matchInline,
  matchEscaped,
  matchNearly,
];

/**
 * Finds a block in a file and returns the splices that apply it; null when it is not there. The first step with a
 * candidate decides: two candidates are ambiguous, never a reason to try a looser step.
 */
export function locate(file: FileLines, halves: Halves): Match | null {
  return matchLoosely(ladder, file, halves);
}
