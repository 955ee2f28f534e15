/** Steps 7 and 11: a block that was copied with line numbers, or with the escapes of a string. */

import { type FileLines, isBlank } from "./file-lines.ts";
import { lineSteps, matchLoosely } from "./line-steps.ts";
import type { Halves, Match } from "./step.ts";

const numberPrefix = /^\s*(\d{1,7})(?:\s*[|│→]|:|\t)(?: ?)/;

/** Step 7: every line of SEARCH begins with a line number, each one more than the last. */
export function matchNumbered(file: FileLines, halves: Halves): Match | null {
  const numbers = halves.search.map((line) => Number(numberPrefix.exec(line)?.[1] ?? Number.NaN));
  const first = numbers[0] ?? Number.NaN;
  if (!numbers.every((number, line) => number === first + line)) return null;
  const numbered = halves.replace.filter((line) => numberPrefix.test(line)).length;
  const written = halves.replace.filter((line) => !isBlank(line)).length;
  if (numbered > 0 && numbered < written) return null;
  const strip = (line: string) => line.replace(numberPrefix, "");
  const bare = { ...halves, search: halves.search.map(strip), replace: halves.replace.map(strip) };
  return withNote(matchLoosely(lineSteps, file, bare), "ignoring copied line numbers");
}

const meanings: Readonly<Record<string, string>> = { "\\n": "\n", "\\t": "\t", '\\"': '"', "\\'": "'", "\\\\": "\\" };

/** Step 11: SEARCH is one line with `\n` or `\"` written out. */
export function matchEscaped(file: FileLines, halves: Halves): Match | null {
  const read = (text: string) => text.replace(/\\[nt"'\\]/g, (code) => meanings[code] ?? code).split("\n");
  const [line = ""] = halves.search;
  if (halves.search.length !== 1 || !/\\[n"]/.test(line)) return null;
  const replace = halves.replace.length === 1 ? read(halves.replace[0] ?? "") : halves.replace;
  const plain = { ...halves, search: dropFinalBlank(read(line)), replace: dropFinalBlank(replace) };
  return withNote(matchLoosely(lineSteps, file, plain), 'reading \\n and \\" as what they stand for');
}

function dropFinalBlank(lines: readonly string[]): readonly string[] {
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function withNote(match: Match | null, note: string): Match | null {
  return match === null || match.kind === "unplaceable" ? match : { ...match, note };
}
