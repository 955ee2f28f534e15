/** Files shown to the model, those with instructions for agents among them: read, reported, checked for hidden characters. */
import type { FileBlob } from "../../core/change.ts";
import { clipText, shareOut } from "../../core/command/clip.ts";
import { compressionOf } from "../../core/compressed.ts";
import { linesOf } from "../../core/context/blocks.ts";
import { isAside, isLongChangelog } from "../../core/context/kind.ts";
import { chooseParts, type LargeFile } from "../../core/context/large-file.ts";
import { throughLinks } from "../../core/context/mentions.ts";
import { type Asked, rankProject, wordsOf } from "../../core/context/project.ts";
import { maxReadLines, maxShown } from "../../core/context/shown.ts";
import { surveyView } from "../../core/context/staged-survey.ts";
import { surveyLimits } from "../../core/context/survey-limits.ts";
import { fence } from "../../core/data-fence.ts";
import { tellFile, type Wanted } from "../../core/dialogue.ts";
import { digest } from "../../core/digest.ts";
import { orNull, PaiError, toPaiError } from "../../core/error.ts";
import { describeHidden } from "../../core/invisible.ts";
import { matchLines } from "../../core/line-diff.ts";
import { type Call, fieldOf } from "../../core/model.ts";
import { parentOf, pathWithin, type RelPath, resolveFrom } from "../../core/path.ts";
import { type PlanClaim, pathsOfClaim } from "../../core/plan/scope.ts";
import type { Entry } from "../../core/ports.ts";
import { mannerOfFile } from "../../core/secrets/named-values.ts";
import { rowOf } from "../../core/vocabulary.ts";
import type { Run } from "../run.ts";

/** Instructions for agents; of the first three, the first that a folder has is read. */
export const guideNames: readonly string[] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
export const memoryName = "MEMORY.md";

export const cutText = (text: string, maxLength: number): string =>
  text.length <= maxLength
    ? text
    : `${text.slice(0, maxLength)}\n[… ${text.length - maxLength} more characters not shown]`;

export interface Source {
  readonly path: RelPath;
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly shown: string;
  readonly part?: {
    readonly ranges: readonly { readonly from: number; readonly to: number }[];
    readonly totalLines: number;
  };
}

/** A text file with its secrets, for comparing and ranking (see `hideSource`); null: no text, or not readable. */
export async function readSource(run: Run, path: RelPath, limit?: number): Promise<Source | null> {
  const blob = await run.overlay.read(path, limit).catch(() => null);
  if (blob?.kind !== "file" || isBinary(blob)) return null;
  const text = new TextDecoder().decode(blob.bytes);
  return { path, bytes: blob.bytes, text, shown: text };
}

/** `readSource` for files that may be ranked; reads each file once. */
export type ReadText = (path: RelPath) => Promise<Source | null>;

export function openTexts(run: Run): ReadText {
  const known = new Map<RelPath, Promise<Source | null>>();
  return (path) => {
    const reading = known.get(path) ?? readSource(run, path, surveyLimits.fileBytes);
    known.set(path, reading);
    return reading;
  };
}

/** The file as the model may see it. Cut it only after this: half a secret would not be recognised. */
export function hideSource({ veil }: Run, source: Source): Source {
  const text = veil.hideRaw(source.text, mannerOfFile(source.path));
  return text === source.text ? source : { ...source, text, shown: text };
}

export function noteSent(run: Run, files: readonly Pick<Source, "path" | "bytes" | "shown">[]): void {
  if (files.length === 0) return;
  const sent = files.map(({ path, bytes, shown }) => ({
    path,
    sha256: digest(bytes),
    bytes: Buffer.byteLength(shown),
  }));
  run.emit({ type: "context.sent", files: sent });
}

export function noteShown(run: Run, files: readonly Pick<Source, "path" | "bytes" | "shown">[]): void {
  for (const { path, shown } of files) noteHidden(run, path, shown);
  noteSent(run, files);
}

/** Warns once about invisible characters in `text`, which the model gets spelled out. `what`: a path, or a look. */
export function noteHidden(run: Run, what: string, text: string): void {
  const found = describeHidden(text);
  if (found === null || run.reading.invisible.has(what)) return;
  run.reading.invisible.add(what);
  run.emit({ type: "notice", level: "warning", code: "hidden_characters", text: `${what}: ${found}` });
}

export const toReadable = (run: Run, text: string): RelPath | null => orNull(() => run.overlay.path(text, "read"));

/** The file that a READ of this target reads; null: it is another action, or the file may not be read. */
export const pathOfRead = (run: Run, { name, target }: { readonly name: string; readonly target: string }) =>
  rowOf(name)?.form === "lines" ? toReadable(run, target) : null;

const isBinary = ({ bytes }: FileBlob): boolean => bytes.subarray(0, 8000).includes(0);

/** What decides which parts of a large file matter, and how many characters they may have. */
export type Focus = Pick<LargeFile, "request" | "plan" | "output" | "looked" | "room">;

/** Numbers of the lines of a file that this run has changed or added. `lines`: the file as the model may see it now. */
function changedLines(run: Run, path: RelPath, lines: readonly string[]): readonly number[] {
  const change = [...(run.begun?.changes ?? []), ...run.changing.staged].find((each) => each.path === path);
  const before = run.veiled.hide(path, change?.before ?? null);
  if (before?.kind !== "file") return [];
  const kept = new Set(matchLines(linesOf(new TextDecoder().decode(before.bytes)), lines).map(([, at]) => at));
  return lines.flatMap((_, at) => (kept.has(at) ? [] : [at + 1]));
}

function wantParts(run: Run, path: RelPath, text: string, focus: Focus): Wanted | null {
  const parts = chooseParts({ path, text, ...focus, changed: changedLines(run, path, linesOf(text)) });
  if (parts.ranges.length === 0) return null;
  const left = parts.left.map(({ from, to }) => `${from}-${to}`).join(", ");
  const note = left === "" ? "" : `not shown: lines ${left}; read what you need of them`;
  return { path, text, ranges: parts.ranges, outline: parts.outline, note };
}

const partOfLine = /[^\n]{0,200}[^\n,;{}]{0,400}[,;{}\n]?/g;

/** A very large file by its ends, one with very long lines by what stands around the words of `focus`. */
function showSome(run: Run, path: RelPath, text: string, size: number, focus: Focus | null): string {
  const next = run.overlay.asksBy === "tools" ? "read with start_line" : "READ::path::from-to";
  const pieces = focus === null ? [] : [...text.matchAll(partOfLine)];
  const broken = pieces.map(([piece]) => piece.replace(/\n$/, "")).join("\n");
  const ranges = focus === null ? [] : chooseParts({ path, text: broken, ...focus, changed: [] }).ranges;
  const parts = ranges.map(({ from, to }) => text.slice(pieces[from - 1]?.index, pieces[to]?.index));
  const shown = parts.length === 0 ? clipText(text, shareOut(maxShown)) : parts.join("\n[…]\n");
  const note = `parts of ${size} bytes; ${parts.length === 0 ? next : "a search"} shows more`;
  return fence("file", { path, note }, shown);
}

/**
 * Makes the text of one file for the model and notes the file as seen; "": the dialogue shows it already; null: there
 * is no such file. With `focus`, a text file that the model has not seen whole is shown in parts; otherwise a very
 * large file is shown by its ends. For a binary file the text is its size, for an unreadable one the reason.
 */
export async function showFile(run: Run, path: RelPath, focus: Focus | null = null): Promise<string | null> {
  try {
    // READ unpacks it.
    if (compressionOf(path) !== null) return null;
    const raw = await run.overlay.read(path);
    const hidden = run.veiled.hide(path, raw);
    if (raw?.kind !== "file" || hidden?.kind !== "file") return null;
    run.reading.bases.add(path);
    if (isBinary(raw)) return `${path}: binary, ${raw.bytes.length} bytes`;
    const text = new TextDecoder().decode(hidden.bytes);
    const wanted = run.overlay.shown(path) === null ? focus : null;
    const parts = wanted && wantParts(run, path, text, wanted);
    const size = raw.bytes.length;
    const isLarge = size > maxShown || text.length > (wanted?.room ?? maxShown);
    const told =
      parts === null && isLarge
        ? { text: showSome(run, path, text, size, wanted), isWhole: false }
        : tellFile(run.dialogue, parts ?? { path, text, ranges: null, outline: "", note: "" });
    if (told.isWhole) run.overlay.show(path, raw.bytes);
    else run.overlay.show(path, raw.bytes, "part");
    noteHidden(run, path, told.text);
    if (told.text !== "") noteSent(run, [{ path, bytes: raw.bytes, shown: told.text }]);
    return told.text;
  } catch (thrown) {
    return `${path}: ${toPaiError(thrown).message}`;
  }
}

const maxOfLong = 60_000;
const linesOfLong = 2000;

/** A file that is too large to be held, or compressed, by its two ends; null: not readable. */
async function readLong(run: Run, path: RelPath): Promise<Source | null> {
  const ends = await run.veiled
    .stage()
    .readEnds(path, linesOfLong)
    .catch(() => null);
  if (ends === null) return null;
  const { head, tail } = ends;
  const isWhole = tail.from <= head.to + 1;
  const rest = tail.text.split("\n").slice(Math.max(0, head.to - tail.from + 1));
  const gap = isWhole ? [] : [`[lines ${head.to + 1}-${tail.from - 1} of ${tail.to} left out]`];
  const shown = clipText([head.text, ...gap, ...rest].join("\n"), shareOut(maxOfLong));
  return { path, bytes: Buffer.from(shown), text: shown, shown, part: { ranges: [], totalLines: tail.to } };
}

async function readNamed(run: Run, path: RelPath): Promise<Source | null> {
  const source = compressionOf(path) === null ? await readSource(run, path) : null;
  if (source === null) return readLong(run, path);
  const hidden = hideSource(run, source);
  return path.startsWith("/") ? { ...hidden, shown: clipText(hidden.shown, shareOut(maxOfLong)) } : hidden;
}

/** The files that the user named. Throws file_unusable, before any call, for one that is not text. */
export async function readMentioned(run: Run): Promise<readonly Source[]> {
  const sources = await Promise.all(
    (run.task.files ?? []).map(async (path) => {
      const source = await readNamed(run, path);
      if (source === null) throw new PaiError("file_unusable", `@${path} is not text and cannot be shown`);
      return source;
    }),
  );
  for (const { path, shown } of sources) noteHidden(run, path, shown);
  return sources;
}

/** After a READ of a whole file, notes it as seen: it may be overwritten. For the flow without a plan. */
export async function noteRead(run: Run, { name, input }: Call): Promise<void> {
  const path = pathOfRead(run, { name, target: fieldOf(input, "path") });
  if (path === null || "start_line" in (input as object) || "end_line" in (input as object)) return;
  const blob = compressionOf(path) === null ? await run.overlay.read(path) : null;
  if (blob?.kind !== "file" || blob.bytes.length > run.overlay.room) return;
  if (isLongChangelog(path, blob.bytes.length)) return;
  // READ leaves out the end of a long file, which is then not seen whole.
  if (blob.bytes.reduce((lines, byte) => lines + (byte === 10 ? 1 : 0), 0) > maxReadLines) return;
  run.overlay.show(path, blob.bytes);
}

export type ListedProject = Awaited<ReturnType<typeof listProject>>;

function linksOf(entries: readonly Entry[], root: string): ReadonlyMap<string, string> {
  return new Map(
    entries.flatMap(({ path, target }) => {
      const within = target?.startsWith("/") ? pathWithin(target, root) : target;
      const meant = within == null ? null : resolveFrom(within === target ? parentOf(path) : ("" as RelPath), within);
      return meant === null || meant === "" ? [] : [[path, meant] as const];
    }),
  );
}

/** Lists the workspace. `shown`: paths that are shown anyway and are not ranked. */
export async function listProject(run: Run, asked: Asked, readText: ReadText, shown: ReadonlySet<string>) {
  const { overlay, signal, workspace } = run;
  const words = wordsOf(asked);
  const survey = workspace.survey?.(words.terms) ?? surveyView(overlay, words.terms);
  const { namesOnly } = run.reading;
  const { entries, more } = namesOnly
    ? { entries: await overlay.list("" as RelPath), more: false }
    : await survey.list(signal);
  const paths: string[] = [];
  const unranked = new Set([...guideNames, memoryName, ...shown]);
  for (const { path, kind } of namesOnly ? [] : entries) {
    if (kind !== "file") continue;
    if (isAside(path, asked.request)) unranked.add(path);
    if (!unranked.has(path)) paths.push(path);
  }
  const read = async (path: string) => (await readText(path as RelPath))?.text ?? null;
  return {
    entries,
    paths,
    more,
    /** Searches the files and ranks them. Call this or `close`, once. */
    async rank() {
      const links = linksOf(entries, workspace.root);
      const through = (text: string) => throughLinks(text, links);
      const named = { ...asked, request: through(asked.request), output: through(asked.output) };
      return rankProject({ survey, words, asked: named, paths, more, unranked, read, signal });
    },
    close: () => survey.close(),
  };
}

/** Characters of all guides together; the nearest get theirs first. */
export const maxGuides = 8_000;

/** The first guide that a folder of the project has; null: it has none. `folder`: "" for the root. */
async function readGuide(run: Run, folder: string): Promise<Source | null> {
  for (const name of guideNames) {
    const read = await readSource(run, (folder === "" ? name : `${folder}/${name}`) as RelPath);
    if (read !== null) return hideSource(run, read);
  }
  return null;
}

export type Knowledge = Awaited<ReturnType<typeof readKnowledge>>;

/** The texts cut to so many characters together; the last ones, which are the nearest, get theirs first. */
function cutTogether<Guide extends { readonly text: string }>(guides: readonly Guide[], maxLength: number) {
  let room = Math.max(0, maxLength);
  const fitting = guides.toReversed().flatMap((guide) => {
    if (room === 0) return [];
    const shown = cutText(guide.text, room);
    room = Math.max(0, room - shown.length);
    return [{ ...guide, shown }];
  });
  return { guides: fitting.reverse(), room };
}

/** Reads the guides from outside, the one at the root and MEMORY.md. `maxLength`: characters of the guides together. */
export async function readKnowledge(run: Run, maxLength = maxGuides) {
  const { reading, veil } = run;
  if (reading.namesOnly) return { outer: [], files: [] };
  const guide = await readGuide(run, "");
  const hidden = reading.outer.map(({ path, text }) => ({ path, text: veil.hideRaw(text) }));
  const { guides, room } = cutTogether(hidden, maxLength - (guide?.text.length ?? 0));
  const outer = guides.map(({ path, shown }) => ({ path, text: shown }));
  const read = await readSource(run, memoryName as RelPath);
  const memory = read === null ? null : hideSource(run, read);
  const files = [guide, memory].flatMap((each) =>
    each === null ? [] : [{ ...each, shown: cutText(each.text, maxLength) }],
  );
  reading.guides = [...outer.map(({ path }) => path), ...files.map(({ path }) => path)];
  reading.guideRoom = room;
  return { outer, files };
}

export const renderGuide = (path: string, text: string): string => fence("file", { path }, text);

/** The knowledge for the instructions of a conversation; notes it as sent. */
export function renderKnowledge(run: Run, { outer, files }: Knowledge): string {
  noteShown(run, files);
  return [
    ...outer.map(({ path, text }) => renderGuide(path, text)),
    ...files.map(({ path, shown }) => renderGuide(path, shown)),
  ].join("\n\n");
}

function foldersOf(claims: readonly PlanClaim[]): readonly string[] {
  const folders = new Set<string>();
  for (const path of claims.flatMap(pathsOfClaim))
    for (let folder: string = parentOf(path); folder !== ""; folder = parentOf(folder as RelPath)) folders.add(folder);
  return [...folders].sort((a, b) => a.split("/").length - b.split("/").length || (a < b ? -1 : 1));
}

/** Reads the guides of the folders that a plan touches, into the room that those of the first request left. */
export async function readNested(run: Run, claims: readonly PlanClaim[]): Promise<void> {
  const { reading } = run;
  const nested: Source[] = [];
  for (const folder of foldersOf(claims)) {
    const guide = await readGuide(run, folder);
    if (guide !== null) nested.push(guide);
  }
  reading.nested = cutTogether(nested, reading.guideRoom).guides;
}

/** The guides of folders that the plan touches, for the work; notes them as sent. "": there are none. */
export function renderNested(run: Run): string {
  const { nested } = run.reading;
  noteShown(run, nested);
  return nested.map(({ path, shown }) => renderGuide(path, shown)).join("\n\n");
}
