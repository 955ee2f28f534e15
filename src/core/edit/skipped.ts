/** Step 9: SEARCH leaves out blank lines or comments of the file, and nothing else. */
import { type FileLines, findRuns, isBlank } from "./file-lines.ts";
import { matchAt } from "./line-steps.ts";
import type { EditSpan, Halves, Match } from "./step.ts";

/** With more places of the same code than this, a fitting place counts as ambiguous. */
const enoughStarts = 20;

const note = "keeping the blank lines and comments that SEARCH leaves out";

export function matchSkipping(file: FileLines, halves: Halves): Match | null {
  const { search } = halves;
  const comments = findComments(file.path, file.lines);
  const searchComments = findComments(file.path, search);
  const code = search.flatMap((line, at) => (isBlank(line) || searchComments.has(at) ? [] : [at]));
  const rows = file.lines.flatMap((line, row) => (isBlank(line) || comments.has(row) ? [] : [row]));
  if (code.length < 2) return null;
  const keys = file.keys("indent");
  const starts = findRuns(
    rows.map((row) => keys[row] ?? -2),
    code.map((at) => file.keyOf("indent", search[at] ?? "")),
  );
  const candidates = starts.slice(0, enoughStarts).flatMap((start) => {
    const found = new Map(code.map((at, index) => [at, rows[start + index] ?? -1]));
    const around = [(rows[start - 1] ?? -1) + 1, rows[start + code.length] ?? file.lines.length] as const;
    const aligned = alignRows(file, search, found, around);
    return aligned === null ? [] : [aligned];
  });
  const [only] = candidates;
  if (only === undefined) return null;
  if (candidates.length === 1 && starts.length <= enoughStarts) return matchAt(file, only, halves, note);
  return { kind: "ambiguous", rows: candidates.map((found) => found.find((row) => row >= 0) ?? 0), note };
}

/**
 * Rows for every line of SEARCH: code where it was found, comments and blanks at their nearest occurrence, within the
 * span that holds no other code. A blank line the file lacks is -1; a comment it lacks makes the whole null.
 */
function alignRows(
  file: FileLines,
  search: readonly string[],
  code: ReadonlyMap<number, number>,
  [from, to]: EditSpan,
): readonly number[] | null {
  const keys = file.keys("indent");
  const wanted = search.map((line) => file.keyOf("indent", line));
  const rows: number[] = [];
  let start = from;
  for (const [line, row] of [...code, [search.length, to] as const]) {
    const gap = keys.slice(start, row);
    const block = wanted.slice(rows.length, line);
    const found = rows.length === 0 ? alignBackward(gap, block) : alignForward(gap, block);
    for (const at of found) rows.push(at < 0 ? -1 : start + at);
    if (line < search.length) rows.push(row);
    start = row + 1;
  }
  return rows.some((row, line) => row < 0 && !isBlank(search[line] ?? "")) ? null : rows;
}

/** The first place of each number after the place of the one before, -1 without one. */
function alignForward(keys: readonly number[], wanted: readonly number[]): readonly number[] {
  let next = 0;
  return wanted.map((key) => {
    const at = keys.indexOf(key, next);
    if (at >= 0) next = at + 1;
    return at;
  });
}

function alignBackward(keys: readonly number[], wanted: readonly number[]): readonly number[] {
  const found = alignForward([...keys].reverse(), [...wanted].reverse());
  return [...found].reverse().map((at) => (at < 0 ? -1 : keys.length - 1 - at));
}

interface Syntax {
  readonly line: readonly string[];
  readonly block: readonly [open: string, close: string] | null;
}

const slashes: Syntax = { line: ["//"], block: ["/*", "*/"] };
const hash: Syntax = { line: ["#"], block: null };
const markup: Syntax = { line: [], block: ["<!--", "-->"] };

const families: readonly (readonly [RegExp, Syntax])[] = [
  [
    /\.([cm]?[jt]sx?|cc?|cpp|cxx|h|hpp|cs|java|kts?|go|rs|swift|scala|dart|proto|zig|groovy|jsonc|less|scss)$/i,
    slashes,
  ],
  [/\.css$/i, { line: [], block: ["/*", "*/"] }],
  [/\.php$/i, { line: ["//", "#"], block: ["/*", "*/"] }],
  [/\.(py|pyi|rb|sh|bash|zsh|fish|ya?ml|toml|pl|pm|r|exs?|tf|mk|conf|nix|jl|ps1|cmake)$/i, hash],
  [/(^|\/)(makefile|dockerfile|justfile|gemfile|rakefile)$/i, hash],
  [/\.sql$/i, { line: ["--"], block: ["/*", "*/"] }],
  [/\.(lua|hs|elm|adb|ads)$/i, { line: ["--"], block: null }],
  [/\.(html?|xml|svg|vue|svelte)$/i, markup],
  [/\.(lisp|el|clj[cs]?|scm|ini|asm)$/i, { line: [";"], block: null }],
  [/\.(tex|erl|hrl)$/i, { line: ["%"], block: null }],
];

/** Rows that hold only a comment; none for a file whose language is not known. */
function findComments(path: string, lines: readonly string[]): ReadonlySet<number> {
  const rows = new Set<number>();
  const syntax = families.find(([name]) => name.test(path))?.[1];
  if (syntax === undefined) return rows;
  const [open, close] = syntax.block ?? ["", ""];
  let inside = false;
  for (const [row, line] of lines.entries()) {
    const text = line.trim();
    const opens: boolean = !inside && open !== "" && text.startsWith(open);
    if (!inside && !opens) {
      if (syntax.line.some((mark) => text.startsWith(mark))) rows.add(row);
      continue;
    }
    inside = !text.slice(opens ? open.length : 0).includes(close);
    if (inside || text.endsWith(close)) rows.add(row);
  }
  return rows;
}
