/** The workspace with this run's staged changes on top; remembers what the model has seen of it. */

import { type Blob, type Change, sameBlob, squash } from "../core/change.ts";
import { maxShown } from "../core/context/shown.ts";
import { digest } from "../core/digest.ts";
import { PaiError, toPaiError } from "../core/error.ts";
import { parentOf, type RelPath } from "../core/path.ts";
import type { Entry, LineRange, Stage, View } from "../core/ports.ts";

/** A Stage that `perform` fills and empties. Every method sees the staged changes; nothing is written. */
export type Overlay = ReturnType<typeof createOverlay>;

const byCodePoint = (a: Entry, b: Entry) => (a.path < b.path ? -1 : 1);

function entryOf(path: RelPath, blob: Blob): Entry {
  return {
    path,
    kind: blob.kind,
    size: blob.kind === "file" ? blob.bytes.length : 0,
    target: blob.kind === "link" ? blob.target : null,
  };
}

/** Lines `from` to `to` of a text, from 1. */
export function cutBytes(bytes: Uint8Array, from: number, to: number): LineRange {
  const lines = new TextDecoder().decode(bytes).split(/\r\n|\n|\r/);
  if (lines.at(-1) === "") lines.pop();
  const last = Math.min(to, lines.length);
  return { text: lines.slice(from - 1, last).join("\n"), from, to: last, total: lines.length };
}

function withinLimit(path: RelPath, blob: Blob | null, limit = Number.POSITIVE_INFINITY): Blob | null {
  if (blob?.kind !== "file" || blob.bytes.length <= limit) return blob;
  throw new PaiError("file_unusable", `${path} is larger than ${limit} bytes`);
}

/** What the run last knew of a path: of a large file its digest, since one reply may read hundreds of them. */
type Known = Blob | null | { readonly kind: "digest"; readonly mode: number; readonly digest: string };

/** A larger file is known by its digest once so many bytes of larger files are remembered. */
const maxKnown = { file: 65_536, all: 32 * 1024 * 1024 } as const;

function isStill(known: Known, now: Blob | null): boolean {
  if (known?.kind !== "digest") return sameBlob(known, now);
  return now?.kind === "file" && now.mode === known.mode && digest(now.bytes) === known.digest;
}

/** The conflict of work on a path that somebody else changed meanwhile. `known`: what it held; null: nothing. */
export function metSomebody(path: RelPath, known: Known, now: Blob | null): PaiError {
  const what = now === null ? "deleted" : known === null ? "made" : "changed";
  return new PaiError("conflict", `${path} was ${what} by someone else while pai worked on it`, {
    target: path,
    hint:
      now === null ? "run the task again without it" : "it was not overwritten; run the task again on the new content",
  });
}

/** An overlay of `view`, to which nothing is ever written. `room`: characters that one answer may have. */
export function createOverlay(
  view: View,
  room: number = maxShown,
  asksBy: Stage["asksBy"] = "script",
  asked?: Stage["asked"],
) {
  let pending: readonly Change[] = [];
  let kept: readonly Change[] = [];
  const known = new Map<RelPath, Known>();
  /** What the model was last shown, where that is newer than what is known. */
  const starts = new Map<RelPath, Uint8Array>();
  let large = 0;
  const sizeOf = (blob: Known | undefined) =>
    blob?.kind === "file" && blob.bytes.length > maxKnown.file ? blob.bytes.length : 0;
  const remember = (path: RelPath, blob: Blob | null): void => {
    large -= sizeOf(known.get(path));
    const isKept = blob?.kind !== "file" || large + sizeOf(blob) <= maxKnown.all;
    const kept: Known = isKept ? blob : { kind: "digest", mode: blob.mode, digest: digest(blob.bytes) };
    large += sizeOf(kept);
    known.set(path, kept);
    starts.delete(path);
  };
  const seen = new Map<RelPath, Uint8Array>();
  let top: ReadonlyMap<RelPath, Change> | null = null;
  /** Made anew after each change of what is staged: a folder of many files asks for it once for each. */
  const onTop = (): ReadonlyMap<RelPath, Change> => {
    top ??= squashByPath([...kept, ...pending]);
    return top;
  };
  const setPending = (changes: readonly Change[]): void => {
    [pending, top] = [changes, null];
  };

  const isNew = (folder: RelPath) => onTop().get(folder)?.before === null;

  const read = async (path: RelPath, limit?: number): Promise<Blob | null> => {
    const change = onTop().get(path);
    if (change !== undefined) return withinLimit(path, change.after, limit);
    const blob = await view.read(path, limit);
    if (!known.has(path)) remember(path, blob);
    return blob;
  };

  const isOther = (path: RelPath, now: Blob | null): boolean => {
    const base = known.get(path);
    return base !== undefined && !onTop().has(path) && !isStill(base, now);
  };
  const isStart = (path: RelPath, blob: Blob | null): boolean => {
    const start = starts.get(path);
    return start !== undefined && blob?.kind === "file" && Buffer.compare(start, blob.bytes) === 0;
  };
  const refuseChanged = (path: RelPath, now: Blob | null): void => {
    if (isOther(path, now)) throw metSomebody(path, known.get(path) ?? null, now);
  };

  /** A path below a file does not exist: `a.sh/index.js` if a.sh is a new file. */
  const readNow = (path: RelPath): Promise<Blob | null> =>
    view.read(path).catch((thrown) => {
      if (toPaiError(thrown).code === "file_unusable") return null;
      throw thrown;
    });

  const learn = (changes: readonly Change[]): void => {
    for (const { path, after } of changes) remember(path, after);
  };

  const stage: Stage = {
    room,
    asksBy,
    ...(asked !== undefined && { asked }),
    ...(view.alsoShown !== undefined && { alsoShown: view.alsoShown }),
    path(text, use) {
      const path = view.path(text, use);
      const changes = onTop();
      const isStaged = changes.size > 0 && partsOf(path).some((each) => changes.has(each));
      return isStaged ? path : (view.follow?.(path, use) ?? path);
    },
    ...(view.host !== undefined && { host: view.host }),
    shown: (path) => seen.get(path) ?? null,
    read,
    async readLines(path, from, to) {
      const change = onTop().get(path);
      if (change === undefined) return view.readLines(path, from, to);
      if (change.after?.kind !== "file") throw new PaiError("file_unusable", `${path} is not a file`);
      return cutBytes(change.after.bytes, from, to);
    },
    async readEnds(path, lines) {
      const change = onTop().get(path);
      if (change === undefined) return view.readEnds(path, lines);
      if (change.after?.kind !== "file") throw new PaiError("file_unusable", `${path} is not a file`);
      const head = cutBytes(change.after.bytes, 1, lines);
      const total = head.total ?? 0;
      return { head, tail: cutBytes(change.after.bytes, Math.max(1, total - lines + 1), total) };
    },
    async list(folder) {
      const changes = onTop();
      const inside = (path: RelPath) => path !== "" && parentOf(path) === folder;
      const below = isNew(folder) ? [] : await view.list(folder);
      const made = [...changes].flatMap(([path, { after }]) => (after && inside(path) ? [entryOf(path, after)] : []));
      return [...below.filter(({ path }) => !changes.has(path)), ...made].sort(byCodePoint);
    },
    async inside(folder) {
      const changes = onTop();
      const below = (isNew(folder) ? [] : await view.inside(folder)).filter((path) => !changes.has(path as RelPath));
      const made = [...changes].flatMap(([path, { after }]) => (after && path.startsWith(`${folder}/`) ? [path] : []));
      return [...below, ...made].sort();
    },
    async *walk(folder, signal, unreadable) {
      const changes = onTop();
      const made = [...changes].flatMap(([path, { after }]) =>
        after && (folder === "" || path.startsWith(`${folder}/`)) ? [entryOf(path, after)] : [],
      );
      if (made.length === 0 && changes.size === 0) return yield* view.walk(folder, signal, unreadable);
      const rest: Entry[] = [];
      for await (const entry of isNew(folder) ? [] : view.walk(folder, signal, unreadable))
        if (!changes.has(entry.path)) rest.push(entry);
      yield* [...rest, ...made].sort(byCodePoint);
    },
    search(query, signal) {
      const staged = [...onTop()].map(
        ([path, { after }]) => [path, after?.kind === "file" ? after.bytes : null] as const,
      );
      return view.search({ ...query, staged: new Map([...staged, ...query.staged]) }, signal);
    },
  };

  return {
    ...stage,
    /**
     * The content that an edit of the model starts from: of a file that somebody else has changed, what the model was last
     * shown of it. Otherwise, and where that is not remembered, like `read`.
     */
    async readStart(path: RelPath, limit?: number): Promise<Blob | null> {
      const blob = await read(path, limit);
      if (blob?.kind !== "file" || onTop().has(path)) return blob;
      const shown = starts.get(path);
      const first = known.get(path);
      const bytes = shown ?? (first?.kind === "file" ? first.bytes : blob.bytes);
      return Buffer.compare(bytes, blob.bytes) === 0 ? blob : { ...blob, bytes };
    },
    /** The content on disk, below staged changes; a path below a file does not exist (null). */
    readNow,
    /** Whether the content of a path is not what the run first saw of it; false for one that it has not seen. */
    isChanged: async (path: RelPath): Promise<boolean> => known.has(path) && isOther(path, await readNow(path)),
    /**
     * Stages changes. Throws `conflict` when a change does not start from the content that the run last knew, unless it is
     * of a command, which starts from what is on disk (`fromDisk`).
     */
    stage(changes: readonly Change[], fromDisk = false): void {
      for (const { path, before } of changes) if (!fromDisk && !isStart(path, before)) refuseChanged(path, before);
      for (const { path, from, before, after } of changes) {
        // The model knows the whole content of a file that it creates, and of one that it moves where it has seen that.
        const isKnown = from === null || (after?.kind === "file" && sameBytes(seen.get(from), after.bytes));
        if (before === null && isKnown && after?.kind === "file") seen.set(path, after.bytes);
      }
      const before = (path: RelPath) => pending.findLast((change) => change.path === path);
      setPending([...pending, ...changes.map((change) => keepMode(change, before(change.path)))]);
    },
    /** Throws `conflict` when one of these files has changed since the run first saw it. */
    async refuseConflict(paths: readonly RelPath[]): Promise<void> {
      for (const path of paths) if (known.has(path)) refuseChanged(path, await readNow(path));
    },
    /** Puts one change in the place of all that is staged for its path. */
    restage(change: Change): void {
      const at = pending.findIndex(({ path }) => path === change.path);
      setPending(pending.flatMap((each, n) => (each.path !== change.path ? [each] : n === at ? [change] : [])));
    },
    /** The same for edits: not for files whose content it remembers, since edits start from that. */
    async refuseUnknown(paths: readonly RelPath[]): Promise<void> {
      for (const path of paths) {
        const now = await readNow(path);
        const isKept = now?.kind === "file" && (starts.has(path) || known.get(path)?.kind === "file");
        if (!isKept) refuseChanged(path, now);
      }
    },
    drop(paths: ReadonlySet<RelPath>): void {
      setPending(pending.filter(({ path }) => !paths.has(path)));
    },
    /** The changes of earlier batches of a dry run, squashed. */
    kept: (): readonly Change[] => squash(kept),
    staged: (): readonly Change[] => squash(pending),
    /** Ends a batch. `applied`: the staged changes as they are on disk now; null (a dry run): they stay on top of it. */
    settle(applied: readonly Change[] | null): void {
      if (applied === null) kept = [...kept, ...pending];
      else learn(applied);
      setPending([]);
    },
    /** Learns what a command of this run changed on disk, so that it does not count as a conflict. */
    learn,
    /** Forgets the known content of these paths and everything below: a command of this run may have changed it. */
    release(paths: readonly RelPath[]): void {
      for (const path of known.keys())
        if (paths.some((each) => path === each || path.startsWith(`${each}/`))) {
          large -= sizeOf(known.get(path));
          known.delete(path);
          starts.delete(path);
        }
    },
    /** Notes that the model was shown these bytes; `part`: only a part of them. */
    show(path: RelPath, bytes: Uint8Array, part?: "part"): void {
      if (part === undefined) seen.set(path, bytes);
      if (!onTop().has(path)) starts.set(path, bytes);
    },
    known: (): readonly RelPath[] => [...known.keys()],
    /** Notes that the model did not get the whole file after all. */
    forget(path: RelPath): void {
      seen.delete(path);
    },
  };
}

const sameBytes = (a: Uint8Array | undefined, b: Uint8Array) => a !== undefined && Buffer.compare(a, b) === 0;

function partsOf(path: RelPath): readonly RelPath[] {
  const parts: RelPath[] = [];
  for (let at = path; at !== ""; at = parentOf(at)) parts.push(at);
  return parts;
}

/** A new file where the same reply removed or moved one: it keeps the mode of that one, as a file that is written over does. */
function keepMode(change: Change, earlier: Change | undefined): Change {
  const { before, after } = change;
  const old = earlier?.after === null ? earlier.before : null;
  if (before !== null || after?.kind !== "file" || old?.kind !== "file") return change;
  if (after.mode !== 0o666 && after.mode !== 0o777) return change;
  const runs = after.mode === 0o777 ? (old.mode & 0o444) >> 2 : 0;
  return { ...change, after: { ...after, mode: old.mode | runs } };
}

/** Merges the changes by path. Unlike squash it keeps a change back to the start, which still hides the disk. */
function squashByPath(changes: readonly Change[]): Map<RelPath, Change> {
  const byPath = new Map<RelPath, Change>();
  for (const change of changes) {
    const earlier = byPath.get(change.path);
    byPath.set(change.path, earlier ? { ...change, before: earlier.before } : change);
  }
  return byPath;
}
