/** Reads unified diffs as models write them: only the lines count, since counts and line numbers are often wrong. */
import type { EditBlock, ScriptAction } from "./script.ts";

type FileDiff = NonNullable<ReturnType<typeof readFile>>;

const hunkMark = /^@@(?: .*?)?@@/;
/** Where a hunk begins in a file that has a header: other agents write no numbers. */
const hunkStart = /^@@(?:\s|@@|$)/;
const patchHeader = /^\*\*\* (Update|Add) File: (\S.*)$/;
const between =
  /^(?:\*\*\* (?:Begin|End)\b|diff --git |index [0-9a-f]+\.\.|(?:new|deleted) file mode |(?:old|new) mode |similarity index |rename (?:from|to) )/;

const isHeader = (lines: readonly string[], at: number): boolean =>
  patchHeader.test(lines[at] ?? "") || (/^--- \S/.test(lines[at] ?? "") && /^\+\+\+ \S/.test(lines[at + 1] ?? ""));

/** Whether the lines hold a hunk, or a `---` and `+++` header. */
export const holdsDiff = (lines: readonly string[]): boolean =>
  lines.some((line, at) => hunkMark.test(line) || isHeader(lines, at));

/** The name of a `---` or `+++` line without its a/ or b/ and its date; null: /dev/null. */
function nameOf(line: string): string | null {
  const name = line.slice(4).split("\t", 1)[0]?.trim() ?? "";
  return name === "/dev/null" ? null : name.replace(/^[ab]\//, "");
}

const toText = (lines: readonly string[]): string => (lines.length === 0 ? "" : `${lines.join("\n")}\n`);

/** A hunk as an edit; null: it changes nothing. A line without a sign counts as context. */
function blockOf(hunk: readonly string[]): EditBlock | null {
  const end = hunk.findLastIndex((line) => line !== "");
  const lines = hunk.slice(0, end + 1).filter((line) => !line.startsWith("\\"));
  if (!lines.some((line) => /^[-+]/.test(line))) return null;
  const side = (skipped: string) =>
    lines.flatMap((line) => (line.startsWith(skipped) ? [] : [/^[-+ ]/.test(line) ? line.slice(1) : line]));
  return { search: toText(side("+")), replace: toText(side("-")) };
}

/** Cuts the lines after a file's header into hunks; without `@@` marks they are one hunk. */
function hunksOf(lines: readonly string[]): readonly (readonly string[])[] {
  const hunks: string[][] = [];
  for (const line of lines) {
    if (hunkStart.test(line)) hunks.push([]);
    else if (hunks.length === 0 && /^[-+ ]/.test(line)) hunks.push([line]);
    else hunks.at(-1)?.push(line);
  }
  return hunks;
}

/** The names before and after, and how many lines the header has. */
function readNames(lines: readonly string[]): readonly [before: string | null, after: string | null, length: number] {
  const [, kind, path = ""] = patchHeader.exec(lines[0] ?? "") ?? [];
  if (kind !== undefined) return [kind === "Add" ? null : path.trim(), path.trim(), 1];
  return isHeader(lines, 0) ? [nameOf(lines[0] ?? ""), nameOf(lines[1] ?? ""), 2] : [null, null, 0];
}

/** `isUnplaced`: a hunk only adds lines, and has no context that says where. */
function readFile(lines: readonly string[]) {
  const [before, after, length] = readNames(lines);
  const blocks = hunksOf(lines.slice(length)).flatMap((hunk) => blockOf(hunk) ?? []);
  const isNew = length > 0 && before === null;
  if (blocks.length === 0) return null;
  return {
    path: after ?? before,
    isNew,
    blocks,
    isUnplaced: !isNew && blocks.some(({ search }) => search.trim() === ""),
  };
}

export function readDiff(lines: readonly string[]): readonly FileDiff[] {
  const starts = lines.flatMap((_, at) => (isHeader(lines, at) ? [at] : []));
  const first = lines.findIndex((line) => hunkMark.test(line));
  const from =
    starts.length === 0 || (first >= 0 && first < (starts[0] ?? 0)) ? [Math.max(first, 0), ...starts] : starts;
  if (!holdsDiff(lines)) return [];
  return from.flatMap((start, at) => {
    const part = lines.slice(start, from[at + 1]);
    const end = part.findIndex((line) => between.test(line) || /^\s*```/.test(line));
    return readFile(end < 0 ? part : part.slice(0, end)) ?? [];
  });
}

/** The action for one file of a diff; null: the place of a hunk would be a guess. */
export function actionOfDiff({ isNew, blocks, isUnplaced }: FileDiff, path: string, line: number): ScriptAction | null {
  if (isNew) return { cmd: "WRITE", path, body: blocks.map(({ replace }) => replace).join(""), line };
  return isUnplaced ? null : { cmd: "MODIFY", path, blocks, line };
}

/** The action for a MODIFY whose body is a diff of that file alone; null: it is not, or a place would be a guess. */
export function readDiffBody(path: string, lines: readonly string[], line: number): ScriptAction | null {
  const [file, ...others] = holdsDiff(lines) ? readDiff(lines) : [];
  if (file === undefined || others.length > 0) return null;
  const isSame = file.path === null || file.path === path || path.endsWith(`/${file.path}`);
  return isSame ? actionOfDiff(file, path, line) : null;
}
