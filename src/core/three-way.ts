/** Merges two changes of one file that began at the same content, line by line, when they touch different lines. */

import { editsBetween, type LineEdit, matchLines, splitLines } from "./line-diff.ts";
import { decode, type Encoding, encode, isAscii } from "./text.ts";

/** A stretch of lines that both sides changed, each time with its line ends. */
export interface Dispute {
  /** The first of its lines in the common content, from 1. */
  readonly line: number;
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

/** Structurally a `Blob` of a change, so that changes can be merged where they are squashed. */
type Content = { readonly kind: "file"; readonly bytes: Uint8Array; readonly mode: number };
type Mergeable = Content | { readonly kind: "folder" | "link" } | null;

export type Merge =
  | { readonly kind: "merged"; readonly blob: Content }
  | { readonly kind: "disputed"; readonly disputes: readonly Dispute[] }
  /** Nothing that is merged by lines: a link, a folder, binary content, a file that is gone or new. */
  | { readonly kind: "unmergeable" };

type Side = ReturnType<typeof sideOf>;

/**
 * How closely edits of the two sides may lie. `apart`: a line that both kept is between them. `beside`: each has lines of
 * its own. `theirs`: so too, and lines that both changed are theirs.
 */
type Nearness = "apart" | "beside" | "theirs";

const splitEdit = (edit: LineEdit): readonly LineEdit[] =>
  edit.oldTo - edit.oldFrom !== edit.newTo - edit.newFrom
    ? [edit]
    : Array.from({ length: edit.oldTo - edit.oldFrom }, (_, at) => {
        const [old, now] = [edit.oldFrom + at, edit.newFrom + at];
        return { oldFrom: old, oldTo: old + 1, newFrom: now, newTo: now + 1 };
      });

function sideOf(base: readonly string[], lines: readonly string[], near: Nearness) {
  const edits = editsBetween(matchLines(base, lines), base.length, lines.length);
  return { lines, edits: near === "apart" ? edits : edits.flatMap(splitEdit) };
}

/** Base lines `from` up to `to`, as a side left them: outside of its edits they are those of the base. */
function linesFor(base: readonly string[], { lines, edits }: Side, from: number, to: number): string {
  const parts: string[] = [];
  let at = from;
  for (const edit of edits) {
    parts.push(base.slice(at, edit.oldFrom).join(""), lines.slice(edit.newFrom, edit.newTo).join(""));
    at = edit.oldTo;
  }
  return parts.join("") + base.slice(at, to).join("");
}

/** Base lines `from` up to `to` that were changed, in order, each with the edits that overlap there or lie side by side. */
function regionsOf(left: readonly LineEdit[], right: readonly LineEdit[], near: Nearness) {
  const all = [...left.map((edit) => ({ edit, isLeft: true })), ...right.map((edit) => ({ edit, isLeft: false }))];
  all.sort((a, b) => a.edit.oldFrom - b.edit.oldFrom);
  const regions: { from: number; to: number; left: LineEdit[]; right: LineEdit[] }[] = [];
  for (const { edit, isLeft } of all) {
    let region = regions.at(-1);
    const isBeside = near !== "apart" && region !== undefined && edit.oldFrom === region.to && region.from < region.to;
    if (region === undefined || edit.oldFrom > region.to || isBeside) {
      region = { from: edit.oldFrom, to: edit.oldTo, left: [], right: [] };
      regions.push(region);
    }
    region.to = Math.max(region.to, edit.oldTo);
    (isLeft ? region.left : region.right).push(edit);
  }
  return regions;
}

/**
 * Three-way merge by lines. Edits of the two sides that overlap, or lie nearer than they may, are a dispute, unless both
 * sides made the same of those lines. A line end belongs to its line.
 */
export function mergeTexts(
  base: string,
  ours: string,
  theirs: string,
  near: Nearness = "apart",
): string | readonly Dispute[] {
  const old = splitLines(base);
  const [mine, other] = [sideOf(old, splitLines(ours), near), sideOf(old, splitLines(theirs), near)];
  const parts: string[] = [];
  const disputes: Dispute[] = [];
  let done = 0;
  for (const { from, to, left, right } of regionsOf(mine.edits, other.edits, near)) {
    const wanted = linesFor(old, { ...mine, edits: left }, from, to);
    const found = linesFor(old, { ...other, edits: right }, from, to);
    const isDisputed = left.length > 0 && right.length > 0 && wanted !== found;
    const isTheirs = left.length === 0 || (isDisputed && near === "theirs");
    parts.push(old.slice(done, from).join(""), isTheirs ? found : wanted);
    if (isDisputed && !isTheirs)
      disputes.push({ line: from + 1, base: old.slice(from, to).join(""), ours: wanted, theirs: found });
    done = to;
  }
  return disputes.length > 0 ? disputes : parts.join("") + old.slice(done).join("");
}

/** The text of a file; the mark of UTF-8 is a part of its first line, that of UTF-16 belongs to the encoding. */
function textOf(bytes: Uint8Array): { readonly text: string; readonly encoding: Encoding } | null {
  const decoded = decode(bytes);
  if (decoded === null || decoded.encoding.name !== "utf-8" || !decoded.encoding.bom) return decoded;
  return { text: `\ufeff${decoded.text}`, encoding: { name: "utf-8", bom: false } };
}

/** The one encoding that holds all these texts; plain ASCII is the same in each but UTF-16. null: there is none. */
function sharedEncoding(all: readonly { readonly text: string; readonly encoding: Encoding }[]): Encoding | null {
  const isWide = ({ encoding }: { readonly encoding: Encoding }) => encoding.name.startsWith("utf-16");
  const telling = all.filter((each) => isWide(each) || !isAscii(each.text));
  const names = new Set((all.some(isWide) ? all : telling).map(({ encoding }) => encoding.name));
  return names.size > 1 ? null : ((telling[0] ?? all[0])?.encoding ?? null);
}

/** What `ours` and `theirs` both made of `base`; encoding, byte order mark, line ends and mode are those of the files. */
export function mergeBlobs(base: Mergeable, ours: Mergeable, theirs: Mergeable, near: Nearness = "apart"): Merge {
  if (base?.kind !== "file" || ours?.kind !== "file" || theirs?.kind !== "file") return { kind: "unmergeable" };
  const mode = theirs.mode === base.mode ? ours.mode : theirs.mode;
  if (ours.mode !== base.mode && theirs.mode !== base.mode && ours.mode !== theirs.mode) return { kind: "unmergeable" };
  const texts = [base, ours, theirs].map(({ bytes }) => textOf(bytes));
  const [old = null, mine = null, other = null] = texts;
  if (old === null || mine === null || other === null) return { kind: "unmergeable" };
  const encoding = sharedEncoding([old, mine, other]);
  if (encoding === null) return { kind: "unmergeable" };
  const merged = mergeTexts(old.text, mine.text, other.text, near);
  if (typeof merged !== "string") return { kind: "disputed", disputes: merged };
  const bytes = encode(merged, encoding);
  return bytes === null ? { kind: "unmergeable" } : { kind: "merged", blob: { kind: "file", bytes, mode } };
}

/** A file of the lines that `now` has and `old` has not. null: there is none, or they are not lines of text. */
export function addedLines(old: Content, now: Content): Content | null {
  const [from, to] = [textOf(old.bytes), textOf(now.bytes)];
  if (from === null || to === null) return null;
  const lines = splitLines(to.text);
  const kept = new Set(matchLines(splitLines(from.text), lines).map(([, at]) => at));
  const bytes = encode(lines.filter((_, at) => !kept.has(at)).join(""), to.encoding);
  return bytes === null || kept.size === lines.length ? null : { ...now, bytes };
}

/** Lines of one side that are shown at most. */
const maxShownLines = 12;

const quoteSide = (text: string): string => {
  const lines = text.replace(/\r?\n$/, "").split("\n");
  const rest = lines.length - maxShownLines;
  const shown = [...lines.slice(0, maxShownLines), ...(rest > 0 ? [`[… ${rest} more]`] : [])];
  return text === "" ? "  (no line)" : shown.map((line) => `  │ ${line}`).join("\n");
};

/** Both sides of each dispute about a file, for people. `ours`, `theirs`: what each side is called. */
export function renderDisputes(
  path: string,
  disputes: readonly Dispute[],
  { ours, theirs }: { readonly ours: string; readonly theirs: string },
): string {
  const parts = disputes.map(({ line, ...sides }) =>
    [`${path}, from line ${line} on, ${theirs}:`, quoteSide(sides.theirs), `${ours}:`, quoteSide(sides.ours)].join(
      "\n",
    ),
  );
  return parts.join("\n");
}
