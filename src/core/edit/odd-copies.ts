/** A block copied with line numbers, or with `...` for unchanged lines. */

import { findPlaceholders } from "../guard/placeholder.ts";
import { type FileLines, indexLines, isBlank } from "./file-lines.ts";
import { lineSteps, matchLoosely, strictSteps } from "./line-steps.ts";
import type { Halves, Match, Splice } from "./step.ts";

/** The last form is that of pai's own READ, which leaves a blank line as its number alone. */
const numberPrefix = /^\s*(\d{1,7})(?:\s*[|│→] ?|: ?|\t ?| |$)/;

/** Every line of SEARCH begins with a line number, each by one larger than the last. */
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

function withNote(match: Match | null, note: string): Match | null {
  return match === null || match.kind === "unplaceable" ? match : { ...match, note };
}

const note = "keeping the lines that ... stands for";

export function matchElided(file: FileLines, halves: Halves): Match | null {
  const [search, replace] = [cutAtElisions(halves.search), cutAtElisions(halves.replace)];
  if (search.length < 2 || search.length !== replace.length) return null;
  const splices: Splice[] = [];
  const span: [number, number] = [file.lines.length, 0];
  for (const [at, part] of search.entries()) {
    const wanted = replace[at] ?? [];
    if (part.every(isBlank) && wanted.every(isBlank)) continue;
    const match = matchAfter(file, span[1], { search: part, replace: wanted, all: false });
    if (match === null || match.kind === "unplaceable") return match;
    if (match.kind === "ambiguous") return { ...match, note };
    splices.push(...match.splices);
    span[0] = Math.min(span[0], match.span[0]);
    span[1] = match.span[1];
  }
  return span[1] === 0 ? null : { kind: "found", splices, span, note };
}

/** The match of a part at or below the row `from`; behind another part, the first place with the very same lines. */
function matchAfter(file: FileLines, from: number, halves: Halves): Match | null {
  const match = matchWithin(file, from, file.lines.length, halves);
  if (from === 0 || match?.kind !== "ambiguous" || match.note !== null) return match;
  return matchWithin(file, from, Math.min(...match.rows) + halves.search.length, halves);
}

/** The match among the rows `from` up to but not including `to`. */
function matchWithin(file: FileLines, from: number, to: number, halves: Halves): Match | null {
  if (from === 0 && to === file.lines.length) return matchLoosely(strictSteps, file, halves);
  const match = matchLoosely(strictSteps, indexLines(file.path, file.lines.slice(from, to)), halves);
  if (match === null) return null;
  if (match.kind === "ambiguous") return { ...match, rows: match.rows.map((row) => row + from) };
  const span = [match.span[0] + from, match.span[1] + from] as const;
  if (match.kind === "unplaceable") return { ...match, span };
  const splices = match.splices.map((each) => ({ ...each, start: each.start + from, end: each.end + from }));
  return { ...match, splices, span };
}

function cutAtElisions(lines: readonly string[]): readonly (readonly string[])[] {
  const parts: string[][] = [[]];
  for (const line of lines) {
    if (isElision(line)) parts.push([]);
    else parts.at(-1)?.push(line);
  }
  return parts;
}

function isElision(line: string): boolean {
  return /^(?:(?!\p{N})\P{L})*(?:\.{3,}|…)/u.test(line) && findPlaceholders(line).length > 0;
}
