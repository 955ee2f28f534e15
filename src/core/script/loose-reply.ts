/** Reads a reply that holds edits but no actions, if the plan leaves no doubt which files are meant. */

import { holdsMarks, isDivider, looksLikeMark, opensSearch, readMark } from "../edit/marks.ts";
import { orNull } from "../error.ts";
import { type FieldNames, nameFields, readJson } from "../json.ts";
import { isFields } from "../model.ts";
import { buildAction, isWholeFile } from "./body.ts";
import { isMarkdown } from "./code-fence.ts";
import type { ScriptAction } from "./script.ts";
import { actionOfDiff, holdsDiff, readDiff } from "./unified-diff.ts";

export interface LooseTarget {
  readonly path: string;
  /** Its step is WRITE, so a whole file may be sent for it. */
  readonly isWritten: boolean;
}

export interface LooseReply {
  /** Empty: the reply could be read in more than one way. */
  readonly actions: readonly ScriptAction[];
  /** What the reply holds, as words after "it held"; "": only prose. */
  readonly seen: string;
  /** The text around the edits: the message to the user. */
  readonly prose: string;
}

type Read = (path: string) => string | null;

const fence = /^\s*(`{3,}|~{3,})\s*(.*)$/;
const pathShape = /^[\w@.+~/-]+\.[\w+-]+$|^[\w@.+~/-]*\/[\w@.+-]+$|^(?:Makefile|Dockerfile|LICENSE|README)$/;

/** The path on a line of its own, which may have marks around it; null: the line is not a path. */
function pathIn(line: string): string | null {
  const bare = line
    .trim()
    .replace(/^(?:[#*>\s`-]+|\d+[.)]\s+)+/, "")
    .replace(/^(?:file|path)\s*:\s*/i, "")
    .replace(/[`*:\s]+$/, "")
    .replace(/^`+/, "");
  return pathShape.test(bare) ? bare : null;
}

const onlyOf = (targets: readonly LooseTarget[]) => (targets.length === 1 ? targets[0] : undefined);

/** The path that a name means: the only target, also by its end; else the name itself, which may be refused later. */
function resolve(name: string | null, targets: readonly LooseTarget[]): string | null {
  const only = onlyOf(targets);
  if (name === null) return only?.path ?? null;
  if (only?.path.endsWith(`/${name}`)) return only.path;
  return name.replace(/^\.\//, "");
}

/** The file that a line between blocks names, alone or as the last word after a fence; null: none. */
const nameOnLine = (line: string): string | null =>
  pathIn(line) ?? pathIn(fence.exec(line)?.[2]?.split(/\s+/).at(-1) ?? "");

/** Blocks by the file that is named above each. `isExact`: whether the file holds lines that look like marks. */
function groupBlocks(lines: readonly string[], isExact: (name: string | null) => boolean) {
  const groups: { readonly name: string | null; readonly lines: string[] }[] = [];
  const rest: string[] = [];
  let name: string | null = null;
  let open: { readonly lines: string[]; readonly exact: boolean } | null = null;
  const begin = () => {
    if (groups.at(-1)?.name !== name) groups.push({ name, lines: [] });
    return { lines: groups.at(-1)?.lines ?? [], exact: isExact(name) };
  };
  const passOver = (line: string): void => {
    const named = nameOnLine(line);
    if (named === null && !fence.test(line)) rest.push(line);
    name = named ?? name;
  };
  for (const line of lines) {
    if (open !== null && fence.test(line) && endsInDivider(open.lines)) open = null;
    if (open === null && opensSearch(line)) open = begin();
    open?.lines.push(line);
    if (open === null) passOver(line);
    else if (readMark(line, open.exact) === "close") open = null;
  }
  return { groups, rest };
}

/** Whether the last block of these lines ends in a second divider, which closes it before a fence. */
function endsInDivider(lines: readonly string[]): boolean {
  const block = lines.slice(lines.findLastIndex(opensSearch));
  return block.filter(isDivider).length > 1 && isDivider(block.findLast((line) => line.trim() !== "") ?? "");
}

const isWhole = ({ blocks = [], isOpen }: ScriptAction) => blocks.length > 0 && isOpen !== true;

function readBlocks(lines: readonly string[], targets: readonly LooseTarget[], read: Read): LooseReply {
  const seen = "SEARCH/REPLACE blocks outside of an action";
  const { groups, rest } = groupBlocks(lines, (name) => holdsMarks(read(resolve(name, targets) ?? "") ?? ""));
  const actions = groups.flatMap(({ name, lines: body }): ScriptAction[] => {
    const path = resolve(name, targets);
    const head = { cmd: "MODIFY", tag: "EOT", line: 1 } as const;
    return path === null ? [] : [buildAction({ ...head, path, lines: body }, read)];
  });
  const all = actions.length === groups.length && actions.every(isWhole) && !rest.some(looksLikeMark);
  return { actions: all ? actions : [], seen, prose: messageIn(rest) };
}

function messageIn(lines: readonly string[]): string {
  const announces = (line: string, at: number) => /:[*_\s]*$/.test(line) && !lines[at + 1]?.trim();
  const said = lines.filter((line, at) => nameOnLine(line) === null && !announces(line, at));
  return said
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

function outsideFences(lines: readonly string[]): readonly string[] {
  let isInside = false;
  return lines.filter((line) => {
    if (!fence.test(line)) return !isInside;
    isInside = !isInside;
    return false;
  });
}

function readDiffs(lines: readonly string[], targets: readonly LooseTarget[]): LooseReply {
  const files = readDiff(lines);
  const actions = files.flatMap((file) => {
    const path = resolve(file.path, targets);
    return (path === null ? null : actionOfDiff(file, path, 1)) ?? [];
  });
  const around = outsideFences(lines);
  // Without a fence nothing tells where a diff ends.
  const end = around.findIndex((line) => /^(?:diff --git|--- |@@|\*\*\* )/.test(line));
  const prose = messageIn(end < 0 ? around : around.slice(0, end));
  const all = actions.length === files.length;
  return { actions: all ? actions : [], seen: "a unified diff outside of an action", prose };
}

/** The one fence of a reply and the text around it; null: there is none, or more than one. */
function onlyFence(lines: readonly string[]) {
  const start = lines.findIndex((line) => fence.test(line));
  const [, marks = "", language = ""] = fence.exec(lines[start] ?? "") ?? [];
  const end = lines.findLastIndex((line) => line.trim() === marks);
  if (start < 0 || end <= start) return null;
  const isOne = !lines.slice(end + 1).some((line) => fence.test(line));
  const inner = lines.slice(start + 1, end);
  // With a line of the same marks inside, there are several fences.
  if (!isOne || inner.some((line) => line.trim() === marks)) return null;
  const around = messageIn([...lines.slice(0, start), ...lines.slice(end + 1)]);
  return { line: start + 1, language: language.trim(), inside: inner, around };
}

/** The action of a reply that shows one command in a shell's fence, and nothing else to do; null: it is another reply. */
export function commandShown(text: string): ScriptAction | null {
  const found = onlyFence(text.split(/\r?\n/));
  if (found === null || !/^(?:(?:ba|z)?sh|shell)$/.test(found.language) || found.inside.length !== 1) return null;
  const arg = found.inside.join("").trim();
  return arg === "" ? null : { cmd: "RUN", arg, line: found.line };
}

function readFence(lines: readonly string[], targets: readonly LooseTarget[], read: Read): LooseReply {
  const found = onlyFence(lines);
  if (found === null) return { actions: [], seen: "several fenced texts and no action", prose: "" };
  const only = onlyOf(targets);
  const wantsJson = only?.isWritten === true && /\.\w*json\w*$/i.test(only.path);
  if (isJson(found.inside.join("\n")) && !wantsJson) return { actions: [], seen: "JSON and no action", prose: "" };
  const seen = "a fenced file and no action";
  const holdsText = found.inside.some((line) => line.trim() !== "");
  const isMeant =
    only !== undefined &&
    // In Markdown the fence of another language is a part of the file.
    (!isMarkdown(only.path) || /^(?:|md|markdown|te?xt)$/i.test(found.language)) &&
    (only.isWritten || isWholeFile(only.path, found.inside, read(only.path)));
  if (!isMeant || !holdsText) return { actions: [], seen, prose: found.around };
  const body = `${found.inside.join("\n")}\n`;
  return { actions: [{ cmd: "WRITE", path: only.path, body, line: 1 }], seen, prose: found.around };
}

/** Whether a text is one JSON object or list: actions in JSON are not a file. */
const isJson = (text: string): boolean => /^\s*[{[]/.test(text) && orNull((): unknown => JSON.parse(text)) !== null;

const editNames: FieldNames = {
  path: ["file_path", "filepath", "filePath", "file", "filename"],
  old_str: ["old_string", "oldString"],
  new_str: ["new_string", "newString"],
};

/** The edit of a reply that is one tool call of another agent, written as JSON; null: it is not. */
function readToolCall(text: string, targets: readonly LooseTarget[]): ScriptAction | null {
  if (text.match(/"old_?str(?:ing)?"/gi)?.length !== 1) return null;
  const reading = readJson(text);
  const call = reading.ok && isFields(reading.value) ? reading.value : {};
  const named = nameFields(editNames, call["arguments"] ?? call["input"] ?? call);
  const { path = null, old_str: search, new_str: replace } = isFields(named) ? named : {};
  if (typeof search !== "string" || typeof replace !== "string" || search === "") return null;
  const target = path === null || typeof path === "string" ? resolve(path, targets) : null;
  if (target === null) return null;
  return { cmd: "MODIFY", path: target, blocks: [{ search, replace }], line: 1 };
}

/** Reads a reply without actions. `read`: the text of a file as the model knows it, or null. */
export function readLooseReply(text: string, targets: readonly LooseTarget[], read: Read): LooseReply {
  const lines = text.split(/\r?\n/);
  const call = readToolCall(text, targets);
  if (call !== null) return { actions: [call], seen: "", prose: "" };
  if (lines.some(opensSearch)) return readBlocks(lines, targets, read);
  if (holdsDiff(lines)) return readDiffs(lines, targets);
  if (lines.some((line) => fence.test(line))) return readFence(lines, targets, read);
  return { actions: [], seen: /^\s*[[{]/.test(text) ? "JSON and no action" : "", prose: text.trim() };
}
