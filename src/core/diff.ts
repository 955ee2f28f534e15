/** Changes as people see them: counts, and a unified diff as git writes it. */
import { type Blob, type Change, opOf } from "./change.ts";
import { digest } from "./digest.ts";
import { editsBetween, type LineEdit, matchLines, splitLines } from "./line-diff.ts";
import type { ChangeSummary } from "./outcome.ts";
import { finish, type Steps } from "./steps.ts";
import { decode } from "./text.ts";

/** Text of a blob: "" for nothing and folders, a link's target, null for binary. */
export function textOfBlob(blob: Blob | null): string | null {
  if (blob === null || blob.kind === "folder") return "";
  if (blob.kind === "link") return blob.target;
  const decoded = decode(blob.bytes);
  return decoded && (decoded.encoding.bom ? `\ufeff${decoded.text}` : decoded.text);
}

type Lines = readonly string[];

type Alignment = ReturnType<typeof align>;

function align(before: Blob | null, after: Blob | null) {
  const [old, now] = [before, after].map((blob) => splitLines(textOfBlob(blob) ?? "")) as [Lines, Lines];
  return { old, now, kept: matchLines(old, now) };
}

/** Lines added and deleted; a replaced line is one of each. Binary content counts no lines. */
export function countLines(before: Blob | null, after: Blob | null): { added: number; deleted: number } {
  if (before === null || after === null) return { added: lengthOf(after), deleted: lengthOf(before) };
  const { old, now, kept } = align(before, after);
  return { added: now.length - kept.length, deleted: old.length - kept.length };
}

const lengthOf = (blob: Blob | null): number => splitLines(textOfBlob(blob) ?? "").length;
const hashOf = (blob: Blob | null): string | null => (blob?.kind === "file" ? digest(blob.bytes) : null);

/** The changes without those of paths emptied by moving. `origin`: where it came from; `before`: its content there. */
function withOrigins(changes: readonly Change[]) {
  const gone = new Map<Change["path"], Change>();
  for (const change of changes) if (change.after === null) gone.set(change.path, change);
  const moved = new Set<Change>();
  const found = changes.map((change) => {
    const origin = change.from === null || change.before !== null ? undefined : gone.get(change.from);
    if (origin === undefined || origin.before?.kind !== change.after?.kind)
      return { change, before: change.before, origin: null };
    moved.add(origin);
    gone.delete(origin.path);
    return { change, before: origin.before, origin: origin.path };
  });
  return found.filter(({ change }) => !moved.has(change));
}

/** Summaries without content. A move is one: it counts the lines that differ from its origin, named in `from` only. */
export const summarizeAll = (...args: Parameters<typeof summarizeSteps>): ChangeSummary[] =>
  finish(summarizeSteps(...args));

export function* summarizeSteps(
  changes: readonly Change[],
  by: (path: Change["path"]) => ChangeSummary["by"],
): Steps<ChangeSummary[]> {
  const summaries: ChangeSummary[] = [];
  for (const { change, before } of withOrigins(changes)) {
    yield;
    const { path, from, after } = change;
    const hash = { before: hashOf(before), after: hashOf(after) };
    summaries.push({ path, op: opOf(change), from, ...countLines(before, after), ...hash, by: by(path) });
  }
  return summaries;
}

const contextLines = 3;
const minHiddenLines = 4;

function groupEdits(edits: readonly LineEdit[]): readonly (readonly LineEdit[])[] {
  const groups: LineEdit[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const edit of edits) {
    const isNear = edit.oldFrom - end < 2 * contextLines + minHiddenLines;
    if (isNear) groups.at(-1)?.push(edit);
    else groups.push([edit]);
    end = edit.oldTo;
  }
  return groups;
}

/** Lines from this index on, as git writes a range: it omits a count of 1. */
const rangeOf = (from: number, count: number): string => {
  const first = count === 0 ? from : from + 1;
  return count === 1 ? `${first}` : `${first},${count}`;
};

function renderHunk(edits: readonly LineEdit[], { old, now }: Alignment): string {
  const lines: string[] = [];
  const add = (sign: " " | "-" | "+", from: readonly string[], start: number, end: number) => {
    for (const line of from.slice(start, end))
      lines.push(sign + line, line.endsWith("\n") ? "" : "\n\\ No newline at end of file\n");
  };
  const context = Math.min(contextLines, edits[0]?.oldFrom ?? 0);
  const oldFrom = (edits[0]?.oldFrom ?? 0) - context;
  const newFrom = (edits[0]?.newFrom ?? 0) - context;
  let [oldTo, newTo] = [oldFrom, newFrom];
  for (const edit of edits) {
    add(" ", old, oldTo, edit.oldFrom);
    add("-", old, edit.oldFrom, edit.oldTo);
    add("+", now, edit.newFrom, edit.newTo);
    ({ oldTo, newTo } = edit);
  }
  const rest = Math.min(contextLines, old.length - oldTo);
  add(" ", old, oldTo, oldTo + rest);
  const ranges = `-${rangeOf(oldFrom, oldTo + rest - oldFrom)} +${rangeOf(newFrom, newTo + rest - newFrom)}`;
  return `@@ ${ranges} @@\n${lines.join("")}`;
}

/** Limits of a file's diff: bytes of one that is made or deleted, changed lines of any other. More is shown as binary. */
const maxWholeBytes = 1024 * 1024;
const maxChangedLines = 50_000;

/** The package's own structuredPatch would align without the bound of matchLines. null: more than `maxChangedLines`. */
function renderHunks(before: Blob | null, after: Blob | null): string | null {
  const alignment = align(before, after);
  const { old, now, kept } = alignment;
  if (old.length + now.length - 2 * kept.length > maxChangedLines) return null;
  const groups = groupEdits(editsBetween(kept, old.length, now.length));
  return groups.map((edits) => renderHunk(edits, alignment)).join("");
}

/** A name as git quotes it; letters of all languages stay readable. */
export function quoteAsGit(name: string): string {
  const quoted = name.replace(/[\x00-\x1f\x7f"\\]/g, (sign) =>
    sign < " " || sign === "\x7f" ? `\\${sign.charCodeAt(0).toString(8).padStart(3, "0")}` : `\\${sign}`,
  );
  return quoted === name ? name : `"${quoted}"`;
}

function renderName(name: string): string {
  const quoted = quoteAsGit(name);
  return quoted === name && name.includes(" ") ? `${name}\t` : quoted;
}

function modeOf(blob: Blob): string {
  if (blob.kind === "link") return "120000";
  return blob.mode & 0o111 ? "100755" : "100644";
}

/** The two modes as git writes them; as they are where more changes than whether the file may be run. */
function renderModes(before: Blob, after: Blob): string {
  const areFiles = before.kind === "file" && after.kind === "file";
  const isGits = !areFiles || (modeOf(before) !== modeOf(after) && ((before.mode ^ after.mode) & 0o666) === 0);
  const [old, made] = [before, after].map((blob) =>
    isGits || blob.kind !== "file" ? modeOf(blob) : `100${(blob.mode & 0o777).toString(8).padStart(3, "0")}`,
  );
  return old === made ? "" : `old mode ${old}\nnew mode ${made}\n`;
}

function renderHeader(change: Change, from: string | null): string {
  const { path, before, after } = change;
  let out = `diff --git ${quoteAsGit(`a/${from ?? path}`)} ${quoteAsGit(`b/${path}`)}\n`;
  if (before === null && after !== null) out += `new file mode ${modeOf(after)}\n`;
  if (before !== null && after === null) out += `deleted file mode ${modeOf(before)}\n`;
  if (before !== null && after !== null) out += renderModes(before, after);
  if (from !== null) out += `rename from ${quoteAsGit(from)}\nrename to ${quoteAsGit(path)}\n`;
  return out;
}

const sameBytes = (a: Blob | null, b: Blob | null): boolean =>
  a?.kind === "file" && b?.kind === "file" && Buffer.compare(a.bytes, b.bytes) === 0;

/** One file; `from` is the old path of a renamed file, and `before` its content there. */
function renderFile(change: Change, from: string | null): string {
  const { path, before, after } = change;
  const header = renderHeader(change, from);
  if (sameBytes(before, after)) return header;
  const oldName = before === null ? "/dev/null" : `a/${from ?? path}`;
  const newName = after === null ? "/dev/null" : `b/${path}`;
  const hunks = isTooLarge(before, after) || isBinary(before) || isBinary(after) ? null : renderHunks(before, after);
  if (hunks) return `${header}--- ${renderName(oldName)}\n+++ ${renderName(newName)}\n${hunks}`;
  const isEmpty = hunks === "" && (before === null || after === null);
  return isEmpty ? header : `${header}Binary files ${quoteAsGit(oldName)} and ${quoteAsGit(newName)} differ\n`;
}

const isBinary = (blob: Blob | null): boolean => textOfBlob(blob) === null;

function isTooLarge(before: Blob | null, after: Blob | null): boolean {
  const whole = before === null ? after : after === null ? before : null;
  return whole?.kind === "file" && whole.bytes.length > maxWholeBytes;
}

function renderChange(change: Change, from: string | null): string {
  const { path, before, after } = change;
  if (before !== null && after !== null && before.kind !== after.kind) {
    return renderChange({ ...change, after: null }, null) + renderChange({ ...change, before: null }, null);
  }
  if (before?.kind === "folder") return after === null ? `deleted folder ${quoteAsGit(path)}/\n` : "";
  if (after?.kind === "folder") return `new folder ${quoteAsGit(path)}/\n`;
  return renderFile(change, from);
}

/** The unified diff of a change set, as `git diff` writes it and `git apply` reads it; folders are one line each. */
export const renderChanges = (changes: readonly Change[]): string => finish(renderSteps(changes));

export function* renderSteps(
  changes: readonly Change[],
  seen: (change: Change) => Change = (change) => change,
): Steps<string> {
  let out = "";
  for (const { change, before, origin } of withOrigins(changes)) {
    yield;
    out += renderChange(seen({ ...change, before }), origin);
  }
  return out;
}
