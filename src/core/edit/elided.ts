/** Step 8: `...` in SEARCH and REPLACE alike stands for lines that stay; every part around it is found alone. */

import { findPlaceholders } from "../guard/placeholder.ts";
import { type FileLines, isBlank } from "./file-lines.ts";
import { matchLoosely, strictSteps } from "./line-steps.ts";
import type { Halves, Match, Splice } from "./step.ts";

const note = "keeping the lines that ... stands for";

export function matchElided(file: FileLines, halves: Halves): Match | null {
  const [search, replace] = [cutAtElisions(halves.search), cutAtElisions(halves.replace)];
  if (search.length < 2 || search.length !== replace.length) return null;
  const splices: Splice[] = [];
  const span: [number, number] = [file.lines.length, 0];
  for (const [at, part] of search.entries()) {
    const wanted = replace[at] ?? [];
    if (part.every(isBlank) && wanted.every(isBlank)) continue;
    const match = matchLoosely(strictSteps, file, { search: part, replace: wanted, all: false });
    if (match === null || match.kind === "unplaceable") return match;
    if (match.kind === "ambiguous") return { ...match, note };
    if (match.span[0] < span[1]) return null;
    splices.push(...match.splices);
    span[0] = Math.min(span[0], match.span[0]);
    span[1] = match.span[1];
  }
  return span[1] === 0 ? null : { kind: "found", splices, span, note };
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
  return /^[^\p{L}\p{N}]*(?:\.{3,}|…)/u.test(line) && findPlaceholders(line).length > 0;
}
