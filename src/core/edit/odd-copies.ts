/** Blocks that were copied with line numbers, with `...` for unchanged lines, with other blank lines, or with small slips. */
import { findPlaceholders } from "../guard/placeholder.ts";
import { distance } from "../suggest.ts";
import { type FileLines, findRuns, indexLines, isBlank, loosen } from "./file-lines.ts";
import { lineSteps, matchAt, matchLoosely, strictSteps } from "./line-steps.ts";
import { type Halves, type Match, type Splice, variantsOf } from "./step.ts";

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
  const match = matchLoosely(lineSteps, file, bare);
  return match === null || match.kind === "unplaceable" ? match : { ...match, note: "ignoring copied line numbers" };
}

const elided = "keeping the lines that ... stands for";

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
    if (match.kind === "ambiguous") return { ...match, note: elided };
    splices.push(...match.splices);
    span[0] = Math.min(span[0], match.span[0]);
    span[1] = match.span[1];
  }
  return span[1] === 0 ? null : { kind: "found", splices, span, note: elided };
}

/** The match of a part at or below the row `from`; behind another part, the first place with the very same lines. */
function matchAfter(file: FileLines, from: number, halves: Halves): Match | null {
  const match = matchWithin(file, from, file.lines.length, halves);
  if (from === 0 || match?.kind !== "ambiguous" || match.note !== null) return match;
  return matchWithin(file, from, Math.min(...match.rows) + halves.search.length, halves);
}

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

const isElision = (line: string): boolean =>
  /^(?:(?!\p{N})\P{L})*(?:\.{3,}|…)/u.test(line) && findPlaceholders(line).length > 0;

const blanks = "keeping the blank lines that the old text leaves out";

/** SEARCH leaves out blank lines of the file, or has blank lines that the file lacks, and nothing else. */
export function matchSkipping(file: FileLines, halves: Halves): Match | null {
  const variant = variantsOf(halves).at(-1) ?? halves;
  const { search } = variant;
  const code = search.flatMap((line, at) => (isBlank(line) ? [] : [at]));
  const rows = file.lines.flatMap((line, row) => (isBlank(line) ? [] : [row]));
  if (code.length < 2) return null;
  const keys = file.keys("indent");
  const starts = findRuns(
    rows.map((row) => keys[row] ?? -2),
    code.map((at) => file.keyOf("indent", search[at] ?? "")),
  );
  const [start = 0, ...others] = starts;
  if (starts.length === 0) return null;
  if (others.length > 0) return { kind: "ambiguous", rows: starts.map((at) => rows[at] ?? 0), note: blanks };
  const found = rows.slice(start, start + code.length);
  return matchAt(file, alignBlanks(code, found, search.length), variant, blanks);
}

/** Rows for every line of SEARCH; a blank line that the file lacks is -1. `code`, `found`: the lines that are not blank. */
const alignBlanks = (code: readonly number[], found: readonly number[], length: number): readonly number[] =>
  Array.from({ length }, (_, line) => {
    const at = code.findLastIndex((each) => each <= line);
    const row = (found[at] ?? 0) + line - (code[at] ?? 0);
    return line === code[at] || row < (found[at + 1] ?? 0) ? row : -1;
  });

const small = "ignoring small differences";

/** Character comparisons that one search may cost; a search that needs more finds nothing. */
const budget = 20_000_000;

/** At least three lines, the first and last equal, nearly all others too, and no second place like that. */
export function matchNearly(file: FileLines, halves: Halves): Match | null {
  const { search } = halves;
  if (search.length < 3) return null;
  const candidates = findCandidates(file, search);
  const best = candidates?.filter((one) => one.strict).sort((a, b) => b.score - a.score)[0];
  if (candidates === null || best === undefined) return null;
  const rivals = candidates.filter((one) => one.score > best.score - 0.1).map((one) => one.row);
  if (rivals.length > 1) return { kind: "ambiguous", rows: rivals, note: small };
  return matchAt(
    file,
    search.map((_, line) => best.row + line),
    halves,
    small,
  );
}

/** Every place whose first and last lines are equal, with its mean similarity; null when it would take too long. */
function findCandidates(file: FileLines, search: readonly string[]) {
  const keys = file.keys("indent");
  const wanted = search.map((line) => file.keyOf("indent", line));
  const last = search.length - 1;
  const found: { readonly row: number; readonly score: number; readonly strict: boolean }[] = [];
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
  return 1 - distance(a, b, { swaps: false }) / longer;
}
