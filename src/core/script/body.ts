/** Turns the closed (or cut) body of WRITE, MODIFY or FINISH into its action: fences, edit blocks, NEXT lines. */

import { atFirstUse } from "../at-first-use.ts";
import { isFence, isMarkdown, unwrapFence } from "./code-fence.ts";
import type { Body, EditBlock, ScriptAction } from "./script.ts";
import { readDiffBody } from "./unified-diff.ts";

type Read = (path: string) => string | null;

const opener = /^<{5,9} ?SEARCH>?( ALL)?[>:]?\s*$/i;
const divider = /^={5,9}\s*$/;
const closer = /^>{5,9} ?REPLACE:?\s*$/i;

/** The action of a closed body; `read` decides between dividers and whether a file to modify exists. */
export function buildAction(body: Body, read: Read): ScriptAction {
  if (body.cmd === "FINISH") return buildFinish(body);
  const { path, line } = body;
  const unwrapped = unwrapFence(body.lines);
  const inner = unwrapped === null || isMarkdown(path) ? null : unwrapped;
  const lines = inner ?? body.lines;
  const flags = inner === null ? [...body.flags] : [...body.flags, "fence-stripped"];
  const edits = body.cmd === "MODIFY" || opener.test(lines.find((each) => each.trim() !== "") ?? "");
  if (!edits) return { cmd: "WRITE", path, body: joinLines(lines), ...flagged(flags), line };

  return buildEdits(body, { lines, flags }, read);
}

/** The MODIFY of a body with blocks or a diff; a WRITE when a MODIFY without blocks names a missing file. */
function buildEdits(
  { cmd, path, line }: Body,
  { lines, flags }: { readonly lines: readonly string[]; readonly flags: readonly string[] },
  read: Read,
): ScriptAction {
  const edit = parseBlocks(lines, () => read(path));
  const isBare = cmd === "MODIFY" && edit.begun === 0;
  const diff = isBare ? readDiffBody(path, lines, line) : null;
  if (diff !== null) return { ...diff, ...flagged([...flags, ...(diff.flags ?? [])]) };
  if (isBare && hasText(lines) && read(path) === null) {
    return { cmd: "WRITE", path, body: joinLines(lines), ...flagged([...flags, "modify-of-missing-file"]), line };
  }
  const made = [...edit.blocks, ...(edit.open?.blocks ?? [])];
  const blocks = made.length === edit.begun ? made : [];
  const odd = [
    ...(cmd === "WRITE" ? ["write-with-blocks"] : []),
    ...edit.flags,
    ...(edit.open?.flags ?? []),
    ...(blocks.length === 0 ? ["no-blocks"] : []),
  ];
  return { cmd: "MODIFY", path, blocks, ...flagged([...flags, ...odd]), line };
}

/** The action of a body that the reply did not close: complete lines and complete blocks only. */
export function buildPartial(body: Body, read: Read): ScriptAction {
  const { cmd, path, line } = body;
  if (cmd === "FINISH") return { ...buildFinish(body), partial: true, flags: [...body.flags, "truncated"] };
  if (cmd === "WRITE") {
    return { cmd, path, body: joinLines(body.lines), partial: true, flags: [...body.flags, "truncated"], line };
  }
  const { blocks, flags } = parseBlocks(body.lines, () => read(path));
  return { cmd, path, blocks, partial: true, flags: [...body.flags, ...flags, "truncated"], line };
}

function buildFinish({ lines, flags, line }: Body): ScriptAction {
  const message: string[] = [];
  const next: string[] = [];
  for (const each of lines) {
    const step = readNext(each);
    if (step === null) message.push(each);
    else if (step !== "") next.push(step);
  }
  return { cmd: "FINISH", arg: message.join("\n").trim(), next, ...flagged(flags), line };
}

/** The text after NEXT: in a line, which may have list or bold marks around NEXT; null: there is no NEXT. */
export function readNext(line: string): string | null {
  return /^[\W\d]*NEXT:[:*\s]*(.*)$/s.exec(line)?.[1]?.trim() ?? null;
}

interface Blocks {
  readonly blocks: readonly EditBlock[];
  readonly flags: readonly string[];
}

interface Edit extends Blocks {
  /** The last block when its closer is missing. */
  readonly open: Blocks | null;
  /** How many blocks the body begins, broken ones included. */
  readonly begun: number;
}

function parseBlocks(lines: readonly string[], file: () => string | null): Edit {
  const { before, parts } = splitBlocks(lines);
  const known = atFirstUse(() => fileLines(file()));
  const made = parts.map((part) => parseBlock(part, known));
  const open = parts.at(-1)?.closed === false ? (made.pop() ?? null) : null;
  const stray = hasText(before) || parts.some((part) => hasText(part.after));
  return {
    blocks: made.flatMap((each) => each.blocks),
    open,
    flags: [...new Set(made.flatMap((each) => each.flags)), ...(stray ? ["stray-text"] : [])],
    begun: parts.length,
  };
}

interface BlockLines {
  readonly all: boolean;
  readonly inside: readonly string[];
  readonly closed: boolean;
  /** Lines after the closer. */
  readonly after: readonly string[];
}

/** Cuts the text at its openers; a block ends at the last closer before the next one. `before`: lines above them. */
function splitBlocks(lines: readonly string[]) {
  const starts = findLines(lines, opener);
  const parts = starts.map((start, n): BlockLines => {
    const part = lines.slice(start + 1, starts[n + 1]);
    const end = part.findLastIndex((line) => closer.test(line));
    const closed = end >= 0;
    return {
      all: / ALL/i.test(lines[start] ?? ""),
      inside: closed ? part.slice(0, end) : part,
      closed,
      after: closed ? part.slice(end + 1) : [],
    };
  });
  return { before: lines.slice(0, starts[0] ?? 0), parts };
}

/** The indexes of the lines that match. */
function findLines(lines: readonly string[], pattern: RegExp): readonly number[] {
  const found: number[] = [];
  for (const [at, line] of lines.entries()) if (pattern.test(line)) found.push(at);
  return found;
}

function parseBlock({ all, inside, closed }: BlockLines, known: () => readonly string[]): Blocks {
  const dividers = findLines(inside, divider);
  const [only] = dividers;
  if (only === undefined) return { blocks: [], flags: ["no-divider"] };
  const at = dividers.length === 1 ? only : chooseDivider(inside, dividers, known(), all);
  if (at === null) return { blocks: [], flags: ["divider-unclear"] };
  const sides = { search: joinLines(inside.slice(0, at)), replace: joinLines(inside.slice(at + 1)) };
  const flags = dividers.length === 1 ? [] : ["divider-by-file"];
  return { blocks: [all ? { ...sides, all } : sides], flags: closed ? flags : [...flags, "unclosed-block"] };
}

/** The last divider whose left side the file contains (exactly once; for ALL at least once); null: there is none. */
function chooseDivider(
  lines: readonly string[],
  dividers: readonly number[],
  file: readonly string[],
  all: boolean,
): number | null {
  if (file.length === 0) return dividers[0] === 0 ? 0 : null;
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
function fileLines(text: string | null): readonly string[] {
  return text === null || text.trim() === "" ? [] : text.split("\n").map((line) => line.trimEnd());
}

function hasText(lines: readonly string[]): boolean {
  return lines.some((line) => line.trim() !== "" && !isFence(line));
}

function joinLines(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function flagged(flags: readonly string[]): { readonly flags?: readonly string[] } {
  return flags.length === 0 ? {} : { flags: [...new Set(flags)] };
}
