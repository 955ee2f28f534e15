/** At least three lines, the first and last equal, nearly all others too, and no second place like that. */

import { distance } from "../suggest.ts";
import { type FileLines, loosen } from "./file-lines.ts";
import { matchAt } from "./line-steps.ts";
import type { Halves, Match } from "./step.ts";

const note = "ignoring small differences";

/** Character comparisons that one search may cost; a search that needs more finds nothing. */
const budget = 20_000_000;

interface Candidate {
  readonly row: number;
  readonly score: number;
  readonly strict: boolean;
}

export function matchNearly(file: FileLines, halves: Halves): Match | null {
  const { search } = halves;
  if (search.length < 3) return null;
  const candidates = findCandidates(file, search);
  const best = candidates?.filter((one) => one.strict).sort((a, b) => b.score - a.score)[0];
  if (candidates === null || best === undefined) return null;
  const rivals = candidates.filter((one) => one.score > best.score - 0.1).map((one) => one.row);
  if (rivals.length > 1) return { kind: "ambiguous", rows: rivals, note };
  return matchAt(
    file,
    search.map((_, line) => best.row + line),
    halves,
    note,
  );
}

/** Every place whose first and last lines are equal, with its mean similarity; null when it would take too long. */
function findCandidates(file: FileLines, search: readonly string[]): readonly Candidate[] | null {
  const keys = file.keys("indent");
  const wanted = search.map((line) => file.keyOf("indent", line));
  const last = search.length - 1;
  const found: Candidate[] = [];
  let cost = 0;
  for (let row = 0; row + last < keys.length; row++) {
    if (wanted[0] === -1 || keys[row] !== wanted[0] || keys[row + last] !== wanted[last]) continue;
    const different = wanted.flatMap((key, line) => (key === keys[row + line] ? [] : [line]));
    cost += 10 * search.length;
    let [sum, lowest] = [search.length - different.length, 1];
    for (const line of different.slice(0, search.length >> 1)) {
      const [a, b] = [loosen(search[line] ?? "", "indent"), loosen(file.lines[row + line] ?? "", "indent")];
      cost += a.length * b.length;
      const alike = cost > budget ? 0 : similarity(a, b);
      sum += alike;
      lowest = Math.min(lowest, alike);
    }
    if (cost > budget) return null;
    const score = sum / search.length;
    const strict = different.length * 4 <= search.length && lowest >= 0.8 && score >= 0.9;
    found.push({ row, score, strict });
  }
  return found;
}

/** 1 less the share of characters that must change (Levenshtein). */
function similarity(a: string, b: string): number {
  const longer = Math.max(a.length, b.length);
  if (longer === 0) return 1;
  if (Math.min(a.length, b.length) < 0.8 * longer) return 0;
  return 1 - distance(a, b) / longer;
}
