/** A file as lines that can be compared more and more loosely; every comparison is on numbers, so it is linear. */
import { isAscii } from "../text.ts";

/** How loosely two lines are compared; each level forgives what the levels before it forgive, and one thing more. */
export type Level = "exact" | "trailing" | "indent" | "unicode" | "spaces";

export interface IndentUnit {
  readonly character: "\t" | " ";
  readonly width: number;
}

export type FileLines = ReturnType<typeof indexLines>;

/** Numbers the lines of a file; a level is worked out when it is first asked for. */
export function indexLines(path: string, lines: readonly string[]) {
  const tables = new Map<Level, ReturnType<typeof numberLines>>();
  const exact = numberLines(lines);
  tables.set("exact", exact);
  const tableOf = (level: Level) => {
    const known = tables.get(level);
    if (known !== undefined) return known;
    const loose = numberLines([...exact.numbers.keys()].map((line) => loosen(line, level)));
    const table = { numbers: loose.numbers, keys: exact.keys.map((key) => loose.keys[key] ?? -1) };
    tables.set(level, table);
    return table;
  };
  let unit: IndentUnit | null = null;
  return {
    path,
    lines,
    keys: (level: Level): readonly number[] => tableOf(level).keys,
    /** The number of a line of a block, -1 when the file has no line equal to it. */
    keyOf: (level: Level, line: string): number => tableOf(level).numbers.get(loosen(line, level)) ?? -1,
    indentUnit: (): IndentUnit => {
      unit ??= usualIndent(lines);
      return unit;
    },
  };
}

function numberLines(lines: readonly string[]) {
  const numbers = new Map<string, number>();
  const keys = lines.map((line) => {
    const number = numbers.get(line) ?? numbers.size;
    if (number === numbers.size) numbers.set(line, number);
    return number;
  });
  return { numbers, keys };
}

/** One level of indentation in a file: the most frequent increase from one line to the next. */
function usualIndent(lines: readonly string[]): IndentUnit {
  const growths = new Map<number, number>();
  const indents = lines
    .slice(0, 2000)
    .filter((line) => !isBlank(line))
    .map(indentOf);
  for (const [at, { length }] of indents.entries()) {
    const growth = length - (indents[at - 1]?.length ?? 0);
    if (growth > 0) growths.set(growth, (growths.get(growth) ?? 0) + 1);
  }
  const tabbed = indents.filter((indent) => indent.startsWith("\t")).length;
  const spaced = indents.filter((indent) => indent.startsWith(" ")).length;
  if (tabbed > spaced) return { character: "\t", width: 1 };
  const [width] = [...growths].sort((a, b) => b[1] - a[1])[0] ?? [4];
  return { character: " ", width };
}

/** Rows where a block's lines occur consecutively, overlapping occurrences included. */
export function findRows(file: FileLines, level: Level, block: readonly string[]): readonly number[] {
  if (block.length === 0 || block.length > file.lines.length) return [];
  const wanted = block.map((line) => file.keyOf(level, line));
  return wanted.includes(-1) ? [] : findRuns(file.keys(level), wanted);
}

/** Every start of a run of numbers in a longer one (Knuth, Morris, Pratt). */
export function findRuns(keys: readonly number[], wanted: readonly number[]): readonly number[] {
  const back = [0];
  /** How many numbers of `wanted` match up to and including `key`, when `held` matched before it. */
  const advance = (held: number, key: number | undefined): number => {
    let reach = held;
    while (reach > 0 && (reach === wanted.length || key !== wanted[reach])) reach = back[reach - 1] ?? 0;
    return key === wanted[reach] ? reach + 1 : reach;
  };
  for (let at = 1; at < wanted.length; at++) back.push(advance(back[at - 1] ?? 0, wanted[at]));
  const starts: number[] = [];
  let held = 0;
  for (const [at, key] of keys.entries()) {
    held = advance(held, key);
    if (held === wanted.length) starts.push(at - held + 1);
  }
  return starts;
}

export function loosen(line: string, level: Level): string {
  if (level === "exact") return line;
  if (level === "trailing") return line.trimEnd();
  if (level === "indent") return line.trim();
  const folded = foldUnicode(line).trim();
  return level === "unicode" ? folded : joinSpaces(folded);
}

export const indentOf = (line: string): string => /^[\t ]*/.exec(line)?.[0] ?? "";

export const isBlank = (line: string): boolean => line.trim() === "";

function foldUnicode(line: string): string {
  if (isAscii(line)) return line;
  return line
    .normalize("NFC")
    .replace(/[‘’‚‛′]/g, "'")
    .replace(/[“”„‟″]/g, '"')
    .replace(/[‐‑‒–—―−]/g, "-")
    .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ")
    .replaceAll("…", "...");
}

/** Keeps one blank between two words, and drops all others. */
const joinSpaces = (line: string): string =>
  line.replace(/\s+/g, (_, at: number) =>
    isWord(line.charAt(at - 1)) && isWord(/\S/.exec(line.slice(at, at + 200))?.[0] ?? "") ? " " : "",
  );

export const isWord = (character: string): boolean => /^(?:\p{L}|\p{N}|[_$])$/u.test(character);
