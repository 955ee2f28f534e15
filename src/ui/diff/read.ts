/** Reads a unified diff of core/diff.ts: its files, with numbered lines. */
import { parsePatch } from "diff/lib/patch/parse.js";
import type { StructuredPatch, StructuredPatchHunk } from "diff/lib/types.js";
import { quoteAsGit } from "../../core/diff.ts";
import { counted } from "../amount.ts";

export interface DiffLine {
  /** `note`: about the lines before it; `skip`: stands for unchanged lines. */
  readonly kind: "add" | "delete" | "same" | "note" | "skip";
  readonly number: number | null;
  readonly text: string;
}

export interface DiffFile {
  readonly from: string | null;
  readonly to: string | null;
  readonly isLink: boolean;
  readonly lines: readonly DiffLine[];
}

export const noteLine = (text: string): DiffLine => ({ kind: "note", number: null, text });

function readHunk({ oldStart, newStart, lines }: StructuredPatchHunk): readonly DiffLine[] {
  let [old, now] = [oldStart, newStart];
  return lines.map((line): DiffLine => {
    const text = line.slice(1);
    if (line.startsWith("\\")) return noteLine(text.trim().toLowerCase());
    if (line.startsWith("+")) return { kind: "add", number: now++, text };
    if (line.startsWith("-")) return { kind: "delete", number: old++, text };
    old += 1;
    return { kind: "same", number: now++, text };
  });
}

function readHunks(hunks: readonly StructuredPatchHunk[]): readonly DiffLine[] {
  return hunks.flatMap((hunk, at) => {
    const before = hunks[at - 1];
    const skipped = before === undefined ? 0 : hunk.newStart - before.newStart - before.newLines;
    const skip: DiffLine = { kind: "skip", number: null, text: counted(skipped, "unchanged line") };
    return skipped > 0 ? [skip, ...readHunk(hunk)] : readHunk(hunk);
  });
}

const nameOf = (name: string | undefined): string => quoteAsGit((name ?? "").replace(/^[ab]\//, ""));

/** Notes on the mode that a file gets; a new file has one only when it can be run. */
function modeNotes(mode: string | undefined, old: string | undefined, isNew: boolean): readonly DiffLine[] {
  if (mode === undefined) return [];
  const isPlain = (each = "") => /^(?:100(?:644|755)|120000)?$/.test(each);
  if (!isNew && !(isPlain(mode) && isPlain(old))) return [noteLine(`mode ${old?.slice(-3)} → ${mode.slice(-3)}`)];
  if (mode.endsWith("755")) return [noteLine(isNew ? "executable" : "executable now")];
  return isNew ? [] : [noteLine("no longer executable")];
}

function readPatch(patch: StructuredPatch): DiffFile {
  const { oldFileName, newFileName, isCreate, isDelete, isBinary, oldMode, newMode, hunks } = patch;
  return {
    from: isCreate === true ? null : nameOf(oldFileName),
    to: isDelete === true ? null : nameOf(newFileName),
    isLink: [oldMode, newMode].includes("120000"),
    lines: [
      ...modeNotes(newMode, oldMode, isCreate === true),
      ...(isBinary === true ? [noteLine("binary")] : []),
      ...readHunks(hunks),
    ],
  };
}

/** Reads the part of a diff for one path. A part that is no valid patch, for example after masking, stays as it is. */
function readPart(part: string): DiffFile | null {
  const [, kind, folder = ""] = /^(new|deleted) folder (.+)/.exec(part) ?? [];
  if (kind !== undefined) {
    const [from, to] = kind === "new" ? [null, folder] : [folder, null];
    return { from, to, isLink: false, lines: [] };
  }
  try {
    // The package trims blanks at the end of these two lines' names, which other lines have, too.
    const [patch] = parsePatch(part.replace(/\n--- [^\n]*\n\+\+\+ [^\n]*(?=\n@@ )/, ""));
    return patch === undefined ? null : readPatch(patch);
  } catch {
    const [head = "", ...lines] = part.trimEnd().split("\n");
    const name = head.slice(head.indexOf(" b/") + 3);
    return { from: name, to: name, isLink: false, lines: lines.map((text) => noteLine(text)) };
  }
}

/** The files of a diff, in its order. Names stay quoted. */
export function parseShownDiff(diff: string): readonly DiffFile[] {
  // No content line begins like this. Splits only after a line feed, not after a carriage return within a line.
  const parts = diff.split(/(?<=\n)(?=diff --git |(?:new|deleted) folder )/);
  return parts.flatMap((part) => (part === "" ? [] : (readPart(part) ?? [])));
}
