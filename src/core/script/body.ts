/** Turns the closed (or cut) body of WRITE, MODIFY or FINISH into its action: fences, edit blocks, NEXT lines. */

import { isDivider, looksLikeMark, opensSearch, readMark } from "../edit/marks.ts";
import { isProseLine } from "../guard/placeholder.ts";
import { matchLines } from "../line-diff.ts";
import { isFence, isMarkdown, unwrapFence, unwrapMarkdown } from "./code-fence.ts";
import type { Body, EditBlock, ScriptAction } from "./script.ts";
import { readDiffBody } from "./unified-diff.ts";

type Read = (path: string) => string | null;

/** The action of a closed body; `read` decides between dividers and whether a file to modify exists. */
export function buildAction(body: Body, read: Read): ScriptAction {
  const { cmd, path, line } = body;
  if (cmd === "FINISH") return buildFinish(body);
  const lines = (isMarkdown(path) ? unwrapMarkdown(body.lines) : unwrapFence(body.lines)) ?? body.lines;
  const holdsEdits = cmd === "MODIFY" || opensSearch(lines.find((each) => each.trim() !== "") ?? "");
  return holdsEdits ? buildEdits({ ...body, lines }, read) : { cmd: "WRITE", path, body: joinLines(lines), line };
}

/** Whether lines are all of a file again: its ends, most of its lines, and no divider that it lacks. */
export function isWholeFile(path: string, lines: readonly string[], text: string | null): boolean {
  const filled = (all: readonly string[]) => all.filter((line) => line.trim() !== "");
  const [now, old] = [filled(lines), filled(fileLines(text))];
  const isSame = now.at(0) === old.at(0) && now.at(-1) === old.at(-1);
  const isDivided = !isProseLine(path) && now.filter(isDivider).length > old.filter(isDivider).length;
  return old.length > 1 && isSame && !isDivided && 2 * matchLines(old, now).length > old.length;
}

/** The MODIFY of a body with blocks or a diff; a WRITE when a MODIFY without blocks names a missing file, or holds all of it. */
function buildEdits({ cmd, path, line, lines }: Body, read: Read): ScriptAction {
  const { closed, open, begun } = parseBlocks(path, lines, read);
  const isBare = cmd === "MODIFY" && begun === 0;
  const diff = isBare ? readDiffBody(path, lines, line) : null;
  if (diff !== null) return diff;
  const text = read(path);
  if (isBare && hasText(lines) && (text === null || isWholeFile(path, lines, text)))
    return { cmd: "WRITE", path, body: joinLines(lines), line };
  const blocks = open === null ? closed : [...closed, open.block];
  const isOpen = open?.isClosed === false;
  return { cmd: "MODIFY", path, blocks: blocks.length === begun ? blocks : [], ...(isOpen && { isOpen }), line };
}

export function buildPartial(body: Body, read: Read): ScriptAction {
  const { cmd, path, line, lines } = body;
  if (cmd === "FINISH") return { ...buildFinish(body), partial: true };
  if (cmd === "WRITE") return { cmd, path, body: joinLines(lines), partial: true, line };
  return { cmd, path, blocks: parseBlocks(path, lines, read).closed, partial: true, line };
}

function buildFinish({ lines, line }: Body): ScriptAction {
  const steps = lines.map(readNext);
  const message = lines.filter((_, at) => steps[at] === null);
  const next = steps.filter((step) => step !== null && step !== "") as string[];
  return { cmd: "FINISH", arg: message.join("\n").trim(), next, line };
}

/** The text after NEXT: in a line, which may have list or bold marks around NEXT; null: there is no NEXT. */
export const readNext = (line: string): string | null => /^[\W\d]*NEXT:[:*\s]*(.*)$/s.exec(line)?.[1]?.trim() ?? null;

function parseBlocks(path: string, lines: readonly string[], read: Read) {
  const file = knowFile(path, read(path));
  const { before, parts } = splitBlocks(lines, file.holdsMarks);
  const last = parts.at(-1);
  return {
    closed: parts.filter(({ closed }) => closed).flatMap((part) => parseBlock(part, file)?.block ?? []),
    /** The last block when its closing mark is missing; null: there is none, or it cannot be read. */
    open: last === undefined || last.closed ? null : parseBlock(last, file),
    /** How many blocks the body begins, broken ones included. */
    begun: parts.length + (before.some(looksLikeMark) ? 1 : 0),
  };
}

type KnownFile = ReturnType<typeof knowFile>;

function knowFile(path: string, text: string | null) {
  const lines = fileLines(text);
  return {
    lines,
    /** The file itself holds lines of `<` or `>` that look like marks: conflicts, or examples of edits. */
    holdsMarks: lines.some(looksLikeMark),
    /** The file itself holds lines of `=` that look like dividers. */
    holdsDividers: lines.some(isDivider),
    isDocument: isProseLine(path),
  };
}

/** Cuts the text at its opening lines; a block ends at the last closing line before the next. `before`: lines above. */
function splitBlocks(lines: readonly string[], isExact: boolean) {
  const starts = findLines(lines, (line) => readMark(line, isExact) === "open");
  const parts = starts.map((start, n) => {
    const part = lines.slice(start + 1, starts[n + 1]);
    const end = findEnd(part, isExact);
    return {
      all: / ALL\b/i.test(lines[start] ?? ""),
      inside: end < 0 ? part : part.slice(0, isExact ? end : startOfRun(part, end)),
      closed: end >= 0,
      after: end < 0 ? [] : part.slice(end + 1),
    };
  });
  return { before: lines.slice(0, starts[0] ?? 0), parts };
}

/** The index of the line that closes a block; the last line of all may be indented. -1: none does. */
function findEnd(part: readonly string[], isExact: boolean): number {
  const end = part.findLastIndex((line) => readMark(line, isExact) === "close");
  if (end >= 0 || isExact) return end;
  const last = part.findLastIndex((line) => hasText([line]));
  return readMark((part[last] ?? "").trim(), false) === "close" ? last : -1;
}

function startOfRun(part: readonly string[], end: number): number {
  let start = end;
  for (let at = end; readMark(part[at] ?? "", false) === "close"; at = lastText(part, start)) start = at;
  return start;
}

/** The index of the last line before `end` that is not blank; -1: there is none. */
function lastText(lines: readonly string[], end: number): number {
  let at = end - 1;
  while (at >= 0 && lines[at]?.trim() === "") at -= 1;
  return at;
}

const findLines = (lines: readonly string[], fits: (line: string) => boolean): readonly number[] =>
  lines.flatMap((line, at) => (fits(line) ? [at] : []));

/** null: where its halves begin and end is not sure. */
function parseBlock({ all, inside, closed, after }: ReturnType<typeof splitBlocks>["parts"][number], file: KnownFile) {
  const mayHold = closed && file.holdsMarks;
  if (after.some(looksLikeMark) || (!mayHold && inside.some(looksLikeMark))) return null;
  const dividers = findLines(inside, isDivider);
  const isChosen = dividers.length > 1 && file.holdsDividers;
  const at = isChosen ? chooseDivider(inside, dividers, file.lines, all) : (dividers[0] ?? null);
  const lower = at === null ? null : readLower(inside.slice(at + 1), closed, file);
  if (at === null || lower === null) return null;
  const sides = { search: joinLines(inside.slice(0, at)), replace: joinLines(lower.lines) };
  const block: EditBlock = all ? { ...sides, all } : sides;
  /** `isClosed`: a line closes it, its mark or a second divider. */
  return { block, isClosed: lower.closed };
}

/** A divider at its beginning repeats the divider, one at its end closes the block. Null: that is not sure. */
function readLower(lines: readonly string[], isClosed: boolean, { holdsDividers, isDocument }: KnownFile) {
  let [from, to, closed] = [0, lines.length, isClosed];
  while (isDivider(lines[from] ?? "") && !isOverline(lines, from)) from += 1;
  for (let last = lastText(lines, to); last >= from && isDivider(lines[last] ?? ""); last = lastText(lines, to)) {
    const isHeading = isUnderline(lines, last, holdsDividers);
    if (isHeading && !closed) return null;
    if (isHeading) break;
    [to, closed] = [last, true];
  }
  const half = lines.slice(from, to);
  const isContent = (at: number) =>
    holdsDividers || (isDocument && (isUnderline(half, at, false) || isOverline(half, at)));
  if (!findLines(half, isDivider).every(isContent)) return null;
  return closed || from > 0 || hasText(half) ? { lines: half, closed } : null;
}

/** Whether the line of `=` is below a title: of the title's length, unless the file has such lines of any length. */
function isUnderline(lines: readonly string[], at: number, ofAnyLength: boolean): boolean {
  const [title = "", line = ""] = [lines[at - 1]?.trimEnd(), lines[at]?.trimEnd()];
  return title !== "" && !isDivider(title) && (ofAnyLength || [...title].length === line.length);
}

/** Whether the line of `=` is above a title that has the same line below it. */
function isOverline(lines: readonly string[], at: number): boolean {
  const [line = "", title = "", below] = lines.slice(at, at + 3).map((each) => each.trimEnd());
  return title !== "" && !isDivider(title) && below === line && [...title].length <= line.length;
}

/** The last divider whose left side the file contains (exactly once; for ALL at least once); null: there is none. */
function chooseDivider(
  lines: readonly string[],
  dividers: readonly number[],
  file: readonly string[],
  all: boolean,
): number | null {
  const candidates = new Set(dividers);
  let chosen: number | null = null;
  let places = file.map((_, at) => at);
  for (let at = 0; places.length > 0 && at < lines.length; at++) {
    if (at > 0 && candidates.has(at) && (all || places.length === 1)) chosen = at;
    const line = lines[at]?.trimEnd();
    places = places.filter((place) => file[place + at] === line);
  }
  return chosen;
}

/** The file's lines without trailing blanks; none for a missing or blank file. */
const fileLines = (text: string | null): readonly string[] =>
  text === null || text.trim() === "" ? [] : text.split("\n").map((line) => line.trimEnd());

const hasText = (lines: readonly string[]): boolean => lines.some((line) => line.trim() !== "" && !isFence(line));

const joinLines = (lines: readonly string[]): string => (lines.length === 0 ? "" : `${lines.join("\n")}\n`);
