/** Files shown to the model: read, reported to the receipt, and checked for characters that people cannot see. */

import { maxReadLines, maxShown, maxWhole } from "../../core/context/shown.ts";
import { surveyLimits } from "../../core/context/survey-limits.ts";
import { fence } from "../../core/data-fence.ts";
import { digest } from "../../core/digest.ts";
import { PaiError, toPaiError } from "../../core/error.ts";
import { describeHidden } from "../../core/invisible.ts";
import type { Call } from "../../core/model.ts";
import type { RelPath } from "../../core/path.ts";
import { rowOf } from "../../core/vocabulary.ts";
import { field } from "../permission.ts";
import type { Run } from "../run.ts";
import type { Focus } from "./large-source.ts";

export const cutText = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most)}\n[… ${text.length - most} more characters not shown]`;

/** A file, and what of it is shown: all of it, or its beginning. */
export interface Source {
  readonly path: RelPath;
  readonly bytes: Uint8Array;
  /** Of the whole file. */
  readonly text: string;
  readonly shown: string;
  /** Where only some lines are shown: which. */
  readonly part?: {
    readonly ranges: readonly { readonly from: number; readonly to: number }[];
    readonly totalLines: number;
  };
}

/** A text file as it is, for comparing and ranking: `hideSource` makes of it what may be shown. Null for what is not text or cannot be read. */
export async function readSource(run: Run, path: RelPath, limit?: number): Promise<Source | null> {
  const blob = await run.overlay.read(path, limit).catch(() => null);
  if (blob?.kind !== "file" || blob.bytes.subarray(0, 8000).includes(0)) return null;
  const text = new TextDecoder().decode(blob.bytes);
  return { path, bytes: blob.bytes, text, shown: text };
}

/** The same for files that may be ranked, each read once. */
export type ReadText = (path: RelPath) => Promise<Source | null>;

export function openTexts(run: Run): ReadText {
  const known = new Map<RelPath, Promise<Source | null>>();
  return (path) => {
    const reading = known.get(path) ?? readSource(run, path, surveyLimits.fileBytes);
    known.set(path, reading);
    return reading;
  };
}

/** The same as the model may see it: cut it only afterwards, since half a secret looks like none. */
export function hideSource({ veil }: Run, source: Source): Source {
  const text = veil.hideRaw(source.text);
  return text === source.text ? source : { ...source, text, shown: text };
}

/** Records in the receipt which files the next call shows. */
export function noteSent(run: Run, files: readonly Pick<Source, "path" | "bytes" | "shown">[]): void {
  if (files.length === 0) return;
  const sent = files.map(({ path, bytes, shown }) => ({
    path,
    sha256: digest(bytes),
    bytes: Buffer.byteLength(shown),
  }));
  run.emit({ type: "context.sent", files: sent });
}

/** `what` is a path, or a look with its target; lines are counted in `text`. The model sees them spelled out. */
export function noteHidden(run: Run, what: string, text: string): void {
  const found = describeHidden(text);
  if (found === null || run.record.told.invisible.has(what)) return;
  run.record.told.invisible.add(what);
  run.emit({ type: "notice", level: "warning", code: "hidden_characters", text: `${what}: ${found}` });
}

/** The path that a text names, when the policy lets it be read; null otherwise. */
export function toReadable(run: Run, text: string): RelPath | null {
  try {
    return run.overlay.path(text, "read");
  } catch {
    return null;
  }
}

/**
 * Of a large text file that the model has not seen whole: its outline and the parts that matter. Null for every other file,
 * and where the lines are too long to choose from: `showFile` shows those.
 */
export async function showParts(run: Run, path: RelPath, focus: () => Focus): Promise<string | null> {
  if (run.overlay.shown(path) !== null) return null;
  const blob = await run.overlay.read(path).catch(() => null);
  const hidden = run.veiled.hide(path, blob);
  if (blob?.kind !== "file" || hidden?.kind !== "file" || blob.bytes.subarray(0, 8000).includes(0)) return null;
  const text = new TextDecoder().decode(hidden.bytes);
  if (text.length <= maxWhole) return null;
  const { chooseLines } = await import("./large-source.ts");
  const parts = chooseLines(run, path, text, focus());
  if (parts.text === "") return null;
  run.record.bases.add(path);
  noteHidden(run, path, parts.text);
  noteSent(run, [{ path, bytes: blob.bytes, shown: parts.text }]);
  const left = parts.left.map(({ from, to }) => `${from}-${to}`).join(", ");
  const note = left === "" ? {} : { note: `lines ${left} were looked at and are left out here` };
  return fence("file", { path, shown: `parts of ${parts.totalLines} lines`, ...note }, parts.text);
}

/**
 * One file as the model is shown it, and noted as seen; null: no such file. Of a very large file it is the beginning,
 * of a binary one its size, of one that cannot be read the reason.
 */
export async function showFile(run: Run, path: RelPath): Promise<string | null> {
  try {
    const blob = await run.overlay.read(path);
    const hidden = run.veiled.hide(path, blob);
    if (blob?.kind !== "file" || hidden?.kind !== "file") return null;
    run.record.bases.add(path);
    if (blob.bytes.subarray(0, 8000).includes(0)) return `${path}: binary, ${blob.bytes.length} bytes`;
    const text = new TextDecoder().decode(hidden.bytes.subarray(0, maxShown));
    noteHidden(run, path, text);
    noteSent(run, [{ path, bytes: blob.bytes, shown: text }]);
    if (blob.bytes.length > maxShown) {
      return fence(
        "file",
        { path, note: `first ${maxShown} of ${blob.bytes.length} bytes; READ::path::from-to shows more` },
        text,
      );
    }
    run.overlay.show(path, blob.bytes);
    return fence("file", { path }, text);
  } catch (thrown) {
    return `${path}: ${toPaiError(thrown).message}`;
  }
}

/** Throws file_unusable for what is not text; the run ends before any call. */
export async function readMentioned(run: Run): Promise<readonly Source[]> {
  const sources = await Promise.all(
    (run.task.files ?? []).map(async (path) => {
      const source = await readSource(run, path);
      if (source === null) throw new PaiError("file_unusable", `@${path} is not text and cannot be shown`);
      return source;
    }),
  ).then((found) => found.map((source) => hideSource(run, source)));
  for (const { path, shown } of sources) noteHidden(run, path, shown);
  return sources;
}

/** Read in this order; the first of each row that is there. */
export const knowledgeFiles: readonly (readonly string[])[] = [["AGENTS.md", "CLAUDE.md", "GEMINI.md"], ["MEMORY.md"]];

/** Those that are there, cut to what a request may hold of each. */
export async function collectKnowledge(
  run: Run,
  files: ReadonlyMap<string, { readonly path: RelPath }>,
  most: number,
): Promise<Source[]> {
  const found: Source[] = [];
  for (const names of knowledgeFiles) {
    const entry = names.flatMap((name) => files.get(name) ?? []).at(0);
    const read = entry === undefined ? null : await readSource(run, entry.path);
    const source = read === null ? null : hideSource(run, read);
    if (source !== null) found.push({ ...source, shown: cutText(source.text, most) });
  }
  return found;
}

/** Characters of one file that a conversation gets. */
const maxMentioned = 16_000;

/** The files as a conversation gets them, cut to what it may hold. */
export async function readKnowledge(run: Run): Promise<readonly Source[]> {
  const found: Source[] = [];
  for (const names of knowledgeFiles) {
    for (const name of names) {
      const read = await readSource(run, name as RelPath);
      if (read === null) continue;
      const source = hideSource(run, read);
      found.push({ ...source, shown: source.text.slice(0, maxMentioned) });
      break;
    }
  }
  return found;
}

/** Their text for the instructions of a conversation; they count as sent. */
export function renderKnowledge(run: Run, files: readonly Source[]): string {
  for (const { path, shown } of files) noteHidden(run, path, shown);
  noteSent(run, files);
  return files.map(({ path, shown }) => fence("file", { path }, shown)).join("\n\n");
}

/** A file that was read whole has been seen: it may be overwritten. Flows with a plan show files themselves. */
export async function noteRead(run: Run, { name, input }: Call): Promise<void> {
  if (
    rowOf(name)?.form !== "lines" ||
    field(input, "path") === "" ||
    "start_line" in (input as object) ||
    "end_line" in (input as object)
  )
    return;
  const path = run.overlay.path(field(input, "path"), "read");
  const blob = await run.overlay.read(path);
  if (blob?.kind !== "file" || blob.bytes.length > run.overlay.room) return;
  // What READ leaves out of a long file was not seen.
  if (blob.bytes.reduce((lines, byte) => lines + (byte === 10 ? 1 : 0), 0) > maxReadLines) return;
  run.overlay.show(path, blob.bytes);
}
