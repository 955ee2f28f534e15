/** A run as its journal records it: its intended and completed changes, its end, and what can be undone. */
import { type Blob, type Change, squash } from "../../core/change.ts";
import type { RelPath } from "../../core/path.ts";
import { parseKept } from "../parse-path.ts";
import type { Traits } from "../traits.ts";
import { readImage, readImages, readRecord, type State } from "./journal.ts";
import type { ClosedLook, Ending, EpisodeKind, Intent, KeptBlob, KeptChange, KeptFile, RecordLine } from "./record.ts";

/** The lines of a record from `begin` to `end`: the run itself, or one undo or redo of it. */
export interface Episode {
  readonly kind: EpisodeKind;
  readonly task: string;
  /** ISO 8601. */
  readonly at: string;
  readonly batches: readonly KeptBatch[];
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
  readonly others: readonly string[];
  readonly closed: ClosedLook | null;
  readonly isRunning: boolean;
}

/** Its temporary names come with those of a rollback. */
export interface KeptBatch extends Intent {
  readonly done: boolean;
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
    else {
      const last = episodes.pop();
      if (last !== undefined) episodes.push(withLine(last, line));
    }
  }
  const [first, ...more] = episodes;
  const also = lines.flatMap((line) => (line.type === "begin" ? (line.also ?? []) : []));
  return first ? { id, task: first.task, at: first.at, also, episodes: [first, ...more] } : null;
}

export const lastEpisode = (run: KeptEpisodes): Episode => run.episodes.at(-1) ?? run.episodes[0];

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

function doneIn(state: State, id: string, { batches }: Episode): Change[] {
  const done = batches.filter((batch) => batch.done);
  return squash(changesOf(state, id, done));
}

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

/** What the last undo, and so a redo of it, left, as the run's work was not there any more. */
export function missingOf(run: KeptEpisodes): readonly string[] {
  const [first, ...later] = run.episodes;
  const undo = lastUndo(run);
  if (undo === undefined) return [];
  const taken = new Set(undo.batches.flatMap(({ done, changes }) => (done ? changes.map(({ path }) => path) : [])));
  const isRest = first.end === "rolled_back" && !later.some(({ kind, end }) => kind === "redo" && end === "applied");
  const stood = isRest ? first.left : workPaths(run).map(({ path }) => path);
  return stood.filter((path) => !taken.has(path));
}

export function workPaths(run: KeptEpisodes): readonly (KeptChange & { readonly by: KeptBatch["by"] })[] {
  const byPath = new Map<string, KeptChange & { by: KeptBatch["by"] }>();
  for (const { by, changes } of run.episodes[0].batches.filter((batch) => batch.done)) {
    for (const change of changes) {
      const earlier = byPath.get(change.path);
      byPath.set(change.path, { ...change, before: earlier ? earlier.before : change.before, by });
    }
  }
  return [...byPath.values()].filter(({ before, after }) => contentOf(before) !== contentOf(after));
}

/** As a text; equal exactly when the blobs are, wherever their contents lie. */
const contentOf = (blob: KeptBlob | null): string => JSON.stringify(blob && { ...blob, where: null });

const openBlob = (images: Uint8Array, blob: KeptBlob | null): Blob | null =>
  blob?.kind === "file" ? { kind: "file", mode: blob.mode, bytes: readImage(images, blob.where, blob.hash) } : blob;

export function changesOf(state: State, id: string, batches: readonly KeptBatch[]): Change[] {
  const images = readImages(state, id);
  return batches.flatMap(({ changes }) =>
    changes.map(({ path, before, after, from }) => ({
      path: parseKept(path),
      before: openBlob(images, before),
      after: openBlob(images, after),
      from: from === null ? null : parseKept(from),
    })),
  );
}

export interface FileBefore {
  readonly blob: Blob | null;
  readonly owner: KeptFile["owner"];
}

/** Throws io_failed when the journal is damaged. */
export function filesBefore(state: State, id: string, { files }: Watched): ReadonlyMap<RelPath, FileBefore> {
  const saved = readImages(state, id, "before");
  return new Map([...files].map(([path, { blob, owner }]) => [path, { blob: openBlob(saved, blob), owner }]));
}

/** Of each path before the first of these batches. */
export const traitsOf = (batches: readonly KeptBatch[]): Map<RelPath, Traits> =>
  new Map(batches.toReversed().flatMap(({ traits }) => withPaths(traits)));

export const tempsOf = (batches: readonly KeptBatch[]): readonly (readonly [RelPath, string])[] =>
  batches.flatMap(({ temps }) => withPaths(temps));

const withPaths = <T>(pairs: readonly (readonly [string, T])[]) =>
  pairs.map(([path, value]) => [parseKept(path), value] as const);

function withLine(episode: Episode, line: Exclude<RecordLine, { type: "begin" }>): Episode {
  const { batches, watched } = episode;
  if (line.type === "end") {
    const found = (line.work ?? []).map((intent) => ({ ...intent, done: true }));
    const { how: end, left, at: endedAt } = line;
    return { ...episode, batches: [...batches, ...found], end, endedAt, left, isCut: found.length > 0 };
  }
  const ended = watched && { ...watched, isRunning: false };
  if (line.type === "watch") return { ...episode, watched: addWatch(watched, line) };
  if (line.type === "intend") return { ...episode, batches: [...batches, { ...line, done: false }], watched: ended };
  if (line.type === "applied" && watched?.isRunning === true) return { ...episode, watched: ended };
  const last = batches.at(-1);
  if (last === undefined) return episode;
  const marked = line.type === "applied" ? { ...last, done: true } : { ...last, temps: [...last.temps, ...line.temps] };
  return { ...episode, batches: [...batches.slice(0, -1), marked] };
}

function addWatch(watched: Watched | null, line: Extract<RecordLine, { type: "watch" }>): Watched {
  const files = new Map(watched?.files);
  for (const each of line.files) files.set(parseKept(each.path), each);
  const closed = line.closed ?? watched?.closed ?? null;
  return { begun: watched?.begun ?? line.at, files, others: line.others, closed, isRunning: true };
}
