/** A run as its journal records it: its intended and completed changes, its end, and what can be undone. */
import { type Blob, type Change, squash } from "../../core/change.ts";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import { parseKept } from "../parse-path.ts";
import type { Traits } from "../traits.ts";
import { type Ending, type EpisodeKind, readImage, readImages, readRecord, type State } from "./journal.ts";
import type { ClosedLook, Intent, KeptBlob, KeptChange, KeptFile, RecordLine, Where } from "./record.ts";

/** The lines of a record from `begin` to `end`: the run itself, or one undo or redo of it. */
export interface Episode {
  readonly kind: EpisodeKind;
  readonly task: string;
  /** ISO 8601. */
  readonly at: string;
  readonly batches: readonly KeptBatch[];
  /** null: there was no command in place. */
  readonly watched: Watched | null;
  /** null: under way, or cut off. */
  readonly end: Ending | null;
  /** ISO 8601; "": it has not ended. */
  readonly endedAt: string;
  /** Not taken back, as somebody had changed them. */
  readonly left: readonly string[];
  /** A recovery ended it and found further changes. */
  readonly isCut?: boolean;
}

export interface Watched {
  /** Epoch milliseconds of the first command. */
  readonly begun: number;
  /** Closed files as they were before the run, others as its last command found them. */
  readonly files: ReadonlyMap<RelPath, KeptFile>;
  readonly images: Readonly<Record<string, Where>>;
  /** Other paths before the last command. */
  readonly others: readonly string[];
  readonly closed: ClosedLook | null;
  readonly isRunning: boolean;
}

export interface KeptBatch {
  readonly by: "plan" | "command";
  readonly done: boolean;
  readonly changes: readonly KeptChange[];
  readonly images: Readonly<Record<string, Where>>;
  readonly traits: ReadonlyMap<RelPath, Traits>;
  /** With those of a rollback. */
  readonly temps: readonly (readonly [RelPath, string])[];
}

export interface KeptEpisodes {
  readonly id: string;
  readonly task: string;
  readonly at: string;
  readonly also: readonly string[];
  /** The first one is the run itself. */
  readonly episodes: readonly [Episode, ...Episode[]];
}

export type RunStatus = "open" | "applied" | "undone" | "rolled_back";

/** null: the record has no readable line. */
export function readRun(state: State, id: string): KeptEpisodes | null {
  const episodes: Episode[] = [];
  const { lines } = readRecord(state, id);
  for (const line of lines) {
    if (line.type === "begin") episodes.push({ ...line, batches: [], watched: null, end: null, endedAt: "", left: [] });
    else addLine(episodes, line);
  }
  const [first, ...more] = episodes;
  const also = lines.flatMap((line) => (line.type === "begin" ? (line.also ?? []) : []));
  return first ? { id, task: first.task, at: first.at, also, episodes: [first, ...more] } : null;
}

export function lastEpisode(run: KeptEpisodes): Episode {
  return run.episodes.at(-1) ?? run.episodes[0];
}

/** After undos and redos. */
export function statusOfRun(run: KeptEpisodes): RunStatus {
  let status: RunStatus = "open";
  for (const { kind, end } of run.episodes) {
    if (end === null) return "open";
    if (kind === "run") status = end;
    else if (end === "applied") status = kind === "undo" ? "undone" : "applied";
  }
  return status;
}

/** Not taken back by its rollback, as somebody had changed them; an undo does. */
export function leftOfRun(run: KeptEpisodes): readonly string[] {
  if (statusOfRun(run) !== "rolled_back") return [];
  const own = new Set(workPaths(run).map(({ path }) => path));
  return run.episodes[0].left.filter((path) => own.has(path));
}

const doneIn = (state: State, id: string, { batches }: Episode): Change[] =>
  squash(
    changesOf(
      state,
      id,
      batches.filter((batch) => batch.done),
    ),
  );

/** With content. Throws io_failed when the journal is damaged. */
export const workOfRun = (state: State, run: KeptEpisodes): Change[] => doneIn(state, run.id, run.episodes[0]);

const lastUndo = ({ episodes }: KeptEpisodes): Episode | undefined =>
  episodes.findLast(({ kind, end }) => kind === "undo" && end === "applied");

/** What a redo brings back: what the undo took out, as it was then. Throws as `workOfRun`. */
export function backOfRun(state: State, run: KeptEpisodes): Change[] {
  const work = workOfRun(state, run);
  const undo = lastUndo(run);
  if (undo === undefined || statusOfRun(run) !== "undone") return work;
  const taken = new Map(doneIn(state, run.id, undo).map((change) => [change.path, change]));
  return work.flatMap((change) => {
    const back = taken.get(change.path);
    return back === undefined ? [] : [{ ...change, before: back.after, after: back.before }];
  });
}

/**
 * What the last undo, and so a redo of it, left: the run's work was not there any more. Of a run that was rolled back
 * only what its rollback left was there.
 */
export function missingOf(run: KeptEpisodes): readonly string[] {
  const [first, ...later] = run.episodes;
  const undo = lastUndo(run);
  if (undo === undefined) return [];
  const taken = new Set(undo.batches.flatMap(({ done, changes }) => (done ? changes.map(({ path }) => path) : [])));
  const isRest = first.end === "rolled_back" && !later.some(({ kind, end }) => kind === "redo" && end === "applied");
  const stood = isRest ? first.left : workPaths(run).map(({ path }) => path);
  return stood.filter((path) => !taken.has(path));
}

/** Without content. */
export function workPaths(run: KeptEpisodes): readonly (KeptChange & { readonly by: KeptBatch["by"] })[] {
  const byPath = new Map<string, KeptChange & { by: KeptBatch["by"] }>();
  for (const { by, changes } of run.episodes[0].batches.filter((batch) => batch.done)) {
    for (const change of changes) {
      const earlier = byPath.get(change.path);
      byPath.set(change.path, { ...change, before: earlier ? earlier.before : change.before, by });
    }
  }
  return [...byPath.values()].filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
}

function openBlobs(images: Uint8Array, places: Readonly<Record<string, Where>>, id: string) {
  return (blob: KeptBlob | null): Blob | null => {
    if (blob?.kind !== "file") return blob;
    const where = places[blob.hash];
    if (where === undefined) throw new PaiError("io_failed", `the journal of run ${id} is damaged`);
    return { kind: "file", mode: blob.mode, bytes: readImage(images, where, blob.hash) };
  };
}

export function changesOf(state: State, id: string, batches: readonly KeptBatch[]): Change[] {
  const images = readImages(state, id);
  return batches.flatMap(({ changes, images: places }) => {
    const open = openBlobs(images, places, id);
    return changes.map(({ path, before, after, from }) => ({
      path: parseKept(path),
      before: open(before),
      after: open(after),
      from: from === null ? null : parseKept(from),
    }));
  });
}

/** `blob` null: it was not there. */
export interface FileBefore {
  readonly blob: Blob | null;
  readonly owner: KeptFile["owner"];
}

/** Throws io_failed when the journal is damaged. */
export function filesBefore(state: State, id: string, { files, images }: Watched): ReadonlyMap<RelPath, FileBefore> {
  const saved = readImages(state, id, "before");
  const open = openBlobs(saved, images, id);
  return new Map([...files].map(([path, { blob, owner }]) => [path, { blob: open(blob), owner }]));
}

export function traitsOf(batches: readonly KeptBatch[]): Map<RelPath, Traits> {
  return new Map(batches.toReversed().flatMap(({ traits }) => [...traits]));
}

function addLine(episodes: Episode[], line: Exclude<RecordLine, { type: "begin" }>): void {
  const episode = episodes.pop();
  if (episode === undefined) return;
  episodes.push(withLine(episode, line));
}

function withLine(episode: Episode, line: Exclude<RecordLine, { type: "begin" }>): Episode {
  const { batches, watched } = episode;
  if (line.type === "end") {
    const found = (line.work ?? []).map((intent) => keptOf(intent, true));
    const { how: end, left, at: endedAt } = line;
    return { ...episode, batches: [...batches, ...found], end, endedAt, left, isCut: found.length > 0 };
  }
  const ended = watched && { ...watched, isRunning: false };
  if (line.type === "watch") return { ...episode, watched: addWatch(watched, line) };
  if (line.type === "intend") return { ...episode, batches: [...batches, keptOf(line, false)], watched: ended };
  if (line.type === "applied" && watched?.isRunning === true) return { ...episode, watched: ended };
  const last = batches.at(-1);
  return last ? { ...episode, batches: [...batches.slice(0, -1), marked(last, line)] } : episode;
}

function addWatch(watched: Watched | null, line: Extract<RecordLine, { type: "watch" }>): Watched {
  const files = new Map(watched?.files);
  for (const each of line.files) files.set(parseKept(each.path), each);
  const { others } = line;
  const closed = line.closed ?? watched?.closed ?? null;
  const images = { ...watched?.images, ...line.images };
  return { begun: watched?.begun ?? line.at, files, images, others, closed, isRunning: true };
}

function keptOf({ by, changes, images, temps, traits }: Intent, done: boolean): KeptBatch {
  return {
    by,
    done,
    changes,
    images,
    traits: withPaths(traits),
    temps: [...withPaths(temps)],
  };
}

function marked(batch: KeptBatch, line: Extract<RecordLine, { type: "applied" | "temps" }>): KeptBatch {
  if (line.type === "temps") return { ...batch, temps: [...batch.temps, ...withPaths(line.temps)] };
  return { ...batch, done: true };
}

function withPaths<T>(record: Readonly<Record<string, T>>): Map<RelPath, T> {
  return new Map(Object.entries(record).map(([path, value]) => [parseKept(path), value]));
}
