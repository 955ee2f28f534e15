/** The workspace with this run's staged changes on top, and as the model may see it: with names in place of secrets. */

import { type Blob, type Change, type FileBlob, keepMode, sameBlob, squash } from "../core/change.ts";
import { compressionOf } from "../core/compressed.ts";
import { cutBytes } from "../core/context/blocks.ts";
import { likelyFirst, widerSearch } from "../core/context/rank.ts";
import { maxShown } from "../core/context/shown.ts";
import { digest } from "../core/digest.ts";
import { PaiError, toPaiError } from "../core/error.ts";
import { foldersAbove, parentOf, type RelPath } from "../core/path.ts";
import type { Entry, LineEnds, LineRange, SearchQuery, SearchReport, Stage, View } from "../core/ports.ts";
import { mannerOfFile } from "../core/secrets/named-values.ts";
import { hideFile, type Veil } from "../core/secrets/veil.ts";
import { isWide } from "../core/text.ts";

/** A Stage that `perform` fills and empties. Every method sees the staged changes; nothing is written. */
export type Overlay = ReturnType<typeof createOverlay>;

const byCodePoint = (a: Entry, b: Entry) => (a.path < b.path ? -1 : 1);

const entryOf = (path: RelPath, blob: Blob): Entry => ({
  path,
  kind: blob.kind,
  size: blob.kind === "file" ? blob.bytes.length : 0,
  target: blob.kind === "link" ? blob.target : null,
});

function withinLimit(path: RelPath, blob: Blob | null, limit = Number.POSITIVE_INFINITY): Blob | null {
  if (blob?.kind !== "file" || blob.bytes.length <= limit) return blob;
  throw new PaiError("file_unusable", `${path} is larger than ${limit} bytes`);
}

function nullIfUnusable(thrown: unknown): null {
  if (toPaiError(thrown).code === "file_unusable") return null;
  throw thrown;
}

/** What the run last knew of a path: of a large file its digest, since one reply may read hundreds of them. */
type Known = Blob | null | { readonly kind: "digest"; readonly mode: number; readonly digest: string };

const maxKnown = 65_536;

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
  let askLikely = async (): Promise<readonly string[]> => [];
  let likely: Promise<readonly string[]> | null = null;
  const known = new Map<RelPath, Known>();
  /** What the model was last shown, where that is newer than what is known. */
  const starts = new Map<RelPath, Uint8Array>();
  const remember = (path: RelPath, blob: Blob | null): void => {
    const isLarge = blob?.kind === "file" && blob.bytes.length > maxKnown;
    known.set(path, isLarge ? { kind: "digest", mode: blob.mode, digest: digest(blob.bytes) } : blob);
    starts.delete(path);
  };
  const seen = new Map<RelPath, Uint8Array>();
  /** All staged changes by path. Unlike squash it keeps a change back to the start, which still hides the disk. */
  let top: ReadonlyMap<RelPath, Change> = new Map();
  const setPending = (changes: readonly Change[]): void => {
    pending = changes;
    const byPath = new Map<RelPath, Change>();
    for (const change of [...kept, ...pending])
      byPath.set(change.path, { ...change, before: (byPath.get(change.path) ?? change).before });
    top = byPath;
  };

  const madeBelow = (folder: RelPath): readonly Entry[] =>
    [...top].flatMap(([path, { after }]) =>
      after && (folder === "" || path.startsWith(`${folder}/`)) ? [entryOf(path, after)] : [],
    );

  const isNew = (folder: RelPath) => top.get(folder)?.before === null;

  const stagedBytes = (path: RelPath): Uint8Array => {
    const blob = top.get(path)?.after;
    if (blob?.kind === "file") return blob.bytes;
    throw new PaiError("file_unusable", `${path} is not a file`);
  };

  const read = async (path: RelPath, limit?: number): Promise<Blob | null> => {
    const change = top.get(path);
    if (change !== undefined) return withinLimit(path, change.after, limit);
    const blob = await view.read(path, limit);
    if (!known.has(path)) remember(path, blob);
    return blob;
  };

  const isOther = (path: RelPath, now: Blob | null): boolean => {
    const base = known.get(path);
    return base !== undefined && !top.has(path) && !isStill(base, now);
  };
  const isStart = (path: RelPath, blob: Blob | null): boolean =>
    blob?.kind === "file" && sameBytes(starts.get(path), blob.bytes);
  const refuseChanged = (path: RelPath, now: Blob | null): void => {
    if (isOther(path, now)) throw metSomebody(path, known.get(path) ?? null, now);
  };

  /** A path below a file does not exist: `a.sh/index.js` if a.sh is a new file. */
  const readNow = (path: RelPath): Promise<Blob | null> => view.read(path).catch(nullIfUnusable);

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
      const isStaged = top.size > 0 && [path, ...foldersAbove(path)].some((each) => top.has(each));
      return isStaged ? path : (view.follow?.(path, use) ?? path);
    },
    ...(view.host !== undefined && { host: view.host }),
    shown: (path) => seen.get(path) ?? null,
    read,
    async readLines(path, from, to) {
      return top.has(path) ? cutBytes(stagedBytes(path), from, to) : view.readLines(path, from, to);
    },
    async readEnds(path, lines) {
      if (!top.has(path)) return view.readEnds(path, lines);
      const head = cutBytes(stagedBytes(path), 1, lines);
      const total = head.total ?? 0;
      return { head, tail: cutBytes(stagedBytes(path), Math.max(1, total - lines + 1), total) };
    },
    async list(folder) {
      const below = isNew(folder) ? [] : await view.list(folder);
      const made = madeBelow(folder).filter(({ path }) => parentOf(path) === folder);
      return [...below.filter(({ path }) => !top.has(path)), ...made].sort(byCodePoint);
    },
    async inside(folder) {
      const below = isNew(folder) ? [] : await view.inside(folder);
      const made = madeBelow(folder).map(({ path }) => path);
      return [...below.filter((path) => !top.has(path as RelPath)), ...made].sort();
    },
    async *walk(folder, signal, unreadable) {
      if (top.size === 0) return yield* view.walk(folder, signal, unreadable);
      const rest: Entry[] = [];
      for await (const entry of isNew(folder) ? [] : view.walk(folder, signal, unreadable))
        if (!top.has(entry.path)) rest.push(entry);
      yield* [...rest, ...madeBelow(folder)].sort(byCodePoint);
    },
    async search(query, signal) {
      const staged = [...top].map(([path, { after }]) => [path, after?.kind === "file" ? after.bytes : null] as const);
      const wide = { ...query, staged: new Map([...staged, ...query.staged]) };
      likely ??= askLikely();
      const paths = await likely;
      const { maxHits } = query;
      const report = await view.search({ ...wide, maxHits: maxHits * widerSearch }, signal);
      return likelyFirst(report, maxHits, paths);
    },
  };

  return {
    ...stage,
    /** What an edit starts from: of a file that somebody else has changed, what the model was last shown, if that is known. */
    async readStart(path: RelPath, limit?: number): Promise<Blob | null> {
      const blob = await read(path, limit);
      if (blob?.kind !== "file" || top.has(path)) return blob;
      const first = known.get(path);
      const bytes = starts.get(path) ?? (first?.kind === "file" ? first.bytes : blob.bytes);
      return sameBytes(bytes, blob.bytes) ? blob : { ...blob, bytes };
    },
    /** The content on disk, below staged changes; a path below a file does not exist (null). */
    readNow,
    isChanged: async (path: RelPath): Promise<boolean> => known.has(path) && isOther(path, await readNow(path)),
    /** Throws `conflict` where a change does not start from what the run last knew; a command starts from the disk (`fromDisk`). */
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
    /** Throws conflict for what somebody else has changed; `ofEdits`: not for files whose content it remembers, from which they start. */
    async refuseConflict(paths: readonly RelPath[], ofEdits = false): Promise<void> {
      for (const path of paths) {
        if (!known.has(path)) continue;
        const now = await readNow(path);
        const isKept = now?.kind === "file" && (starts.has(path) || known.get(path)?.kind === "file");
        if (!(ofEdits && isKept)) refuseChanged(path, now);
      }
    },
    restage(change: Change): void {
      setPending([...pending.filter(({ path }) => path !== change.path), change]);
    },
    /** Sets the order of search hits, the likeliest paths first. The first search calls `paths`. */
    prefer(paths: () => Promise<readonly string[]>): void {
      [askLikely, likely] = [paths, null];
    },
    drop(paths: ReadonlySet<RelPath>): void {
      setPending(pending.filter(({ path }) => !paths.has(path)));
    },
    kept: (): readonly Change[] => squash(kept),
    staged: (): readonly Change[] => squash(pending),
    /** Ends a batch. `applied`: the staged changes as they are on disk now; null (a dry run): they stay on top of it. */
    settle(applied: readonly Change[] | null): void {
      if (applied === null) kept = [...kept, ...pending];
      else learn(applied);
      setPending([]);
    },
    learn,
    /** Forgets the known content of these paths and everything below: a command of this run may have changed it. */
    release(paths: readonly RelPath[]): void {
      for (const path of known.keys())
        if (paths.some((each) => path === each || path.startsWith(`${each}/`)))
          for (const held of [known, starts]) held.delete(path);
    },
    show(path: RelPath, bytes: Uint8Array, part?: "part"): void {
      if (part === undefined) seen.set(path, bytes);
      if (!top.has(path)) starts.set(path, bytes);
    },
    known: (): readonly RelPath[] => [...known.keys()],
    forget: (path: RelPath): boolean => seen.delete(path),
  };
}

const sameBytes = (a: Uint8Array | undefined, b: Uint8Array) => a !== undefined && Buffer.compare(a, b) === 0;

export type VeiledView = ReturnType<typeof createVeiledView>;

/** Lines that are searched for secrets around a shown part of a file that is too large to be searched whole. */
const linesAround = 400;

const splitLines = (text: string) => text.split(/\r\n|\n|\r/);
const minNameLength = 16;

export function createVeiledView(overlay: Overlay, veil: Veil) {
  const raws = new WeakMap<Uint8Array, FileBlob>();
  const holders = new Set<RelPath>();

  const hideRead = (path: RelPath, raw: FileBlob): FileBlob => {
    const hidden = hideFile(veil, path, raw);
    if (hidden === raw) holders.delete(path);
    else {
      holders.add(path);
      raws.set(hidden.bytes, raw);
    }
    return hidden;
  };
  const hide = (path: RelPath, blob: Blob | null): Blob | null => (blob?.kind === "file" ? hideRead(path, blob) : blob);

  const hidePath = (path: RelPath): RelPath =>
    path
      .split("/")
      .map((name) => (name.length < minNameLength ? name : veil.hideRaw(name)))
      .join("/") as RelPath;
  const hideEntry = (entry: Entry): Entry => {
    const path = hidePath(entry.path);
    const target = entry.target === null ? null : veil.hideRaw(entry.target);
    return path === entry.path && target === entry.target ? entry : { ...entry, path, target };
  };

  /** Its answers wait for `turn`, so that simultaneous looks name secrets in the order of the calls. */
  const stage = (turn: Promise<unknown> = Promise.resolve(), readRaw = overlay.read): Stage => {
    const read = async (path: RelPath, limit?: number): Promise<Blob | null> => {
      const blob = await readRaw(path, limit);
      await turn;
      return hide(path, blob);
    };
    const readWhole = (path: RelPath): Promise<Blob | null> => read(path).catch(nullIfUnusable);

    /** Lines of a large file, hidden together with the lines around them, which may be needed to recognise a secret. */
    const readAround = async (path: RelPath, from: number, to: number): Promise<LineRange> => {
      const start = Math.max(1, from - linesAround);
      const wide = await overlay.readLines(path, start, to + linesAround);
      const asked = await overlay.readLines(path, from, to);
      await turn;
      const lines = splitLines(veil.hideRaw(wide.text, mannerOfFile(path)));
      return { ...asked, text: lines.slice(asked.from - start, asked.to - start + 1).join("\n") };
    };

    const readLines = async (path: RelPath, from: number, to: number): Promise<LineRange> => {
      const blob = compressionOf(path) === null ? await readWhole(path) : null;
      if (blob?.kind !== "file") return readAround(path, from, to);
      if (!raws.has(blob.bytes) || isWide(blob.bytes)) return overlay.readLines(path, from, to);
      return cutBytes(blob.bytes, from, to);
    };

    /** Both ends, each hidden together with the lines beside it. */
    const readEnds = async (path: RelPath, lines: number): Promise<LineEnds> => {
      const { head, tail } = await overlay.readEnds(path, lines + linesAround);
      await turn;
      const [first, last] = [head, tail].map(({ text }) => splitLines(veil.hideOutput(text)));
      const start = (first ?? []).slice(0, lines);
      const end = (last ?? []).slice(-lines);
      return {
        head: { ...head, text: start.join("\n"), to: start.length },
        tail: { ...tail, text: end.join("\n"), from: tail.to - end.length + 1 },
      };
    };

    const hiddenFiles = async (): Promise<SearchQuery["staged"]> => {
      const staged = new Map<RelPath, Uint8Array | null>();
      for (const path of [...holders]) {
        const blob = await readWhole(path).catch(() => null);
        if (blob?.kind === "file" && raws.has(blob.bytes)) staged.set(path, blob.bytes);
        else holders.delete(path);
      }
      return staged;
    };

    /**
     * Searches hidden text only, so that no pattern can find out a secret letter by letter: once more whenever a file with
     * a hit turns out to hold secrets.
     */
    const search = async (query: SearchQuery, signal?: AbortSignal): Promise<SearchReport> => {
      const hide = (text: string) => turn.then(() => veil.hideOutput(text));
      for (;;) {
        const staged = await hiddenFiles();
        const asked = { ...query, hide, maxHits: query.maxHits + 1, staged, known: hidePath };
        const report = await overlay.search(asked, signal);
        await turn;
        // Every file with a hit can be read whole: larger ones are not searched.
        for (const path of new Set(report.hits.map((hit) => hit.path))) await readWhole(path);
        if ([...holders].some((path) => !staged.has(path))) continue;
        const hits = report.hits.slice(0, query.maxHits).map((hit) => ({ ...hit, path: hidePath(hit.path) }));
        return { ...report, hits, more: report.more || report.hits.length > query.maxHits };
      }
    };

    return {
      room: overlay.room,
      asksBy: overlay.asksBy,
      path: overlay.path,
      ...(overlay.asked !== undefined && { asked: overlay.asked }),
      ...(overlay.alsoShown !== undefined && { alsoShown: overlay.alsoShown }),
      ...(overlay.host !== undefined && { host: overlay.host }),
      shown(path) {
        const bytes = overlay.shown(path);
        return bytes === null ? null : hideRead(path, { kind: "file", bytes, mode: 0 }).bytes;
      },
      read,
      readLines,
      readEnds,
      async list(folder) {
        const entries = await overlay.list(folder);
        await turn;
        const hidden = entries.map(hideEntry);
        // In the order on disk, the place of a hidden name would tell how it begins.
        const isAsOnDisk = hidden.every(({ path }, at) => path === entries[at]?.path);
        return isAsOnDisk ? hidden : hidden.sort((a, b) => (a.path < b.path ? -1 : 1));
      },
      async *walk(folder, signal, unreadable) {
        await turn;
        for await (const entry of overlay.walk(folder, signal, unreadable)) yield hideEntry(entry);
      },
      inside: (folder) => overlay.inside(folder),
      search,
    };
  };

  /** A change as models and people may see it: what is cut from it for a diff cannot hold a part of a secret. */
  const hideChange = (change: Change): Change => ({
    ...change,
    before: hide(change.path, change.before),
    after: hide(change.path, change.after),
  });

  return {
    stage: (turn?: Promise<unknown>) => stage(turn),
    /** The stage for edits, which start from what the model was shown (`readStart`). */
    editStage: () => stage(undefined, overlay.readStart),
    hide,
    hideChange,
    hideChanges: (changes: readonly Change[]): readonly Change[] => changes.map(hideChange),
    rawOf: (blob: Blob | null): Blob | null => (blob?.kind === "file" ? (raws.get(blob.bytes) ?? blob) : blob),
  };
}
