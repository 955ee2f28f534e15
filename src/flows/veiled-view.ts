/** The workspace as the model may see it: with names in place of secrets when it reads, lists and searches. */

import { type Blob, type Change, type FileBlob, squash } from "../core/change.ts";
import { compressionOf } from "../core/compressed.ts";
import { toPaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import type { Entry, LineEnds, LineRange, SearchQuery, SearchReport, Stage } from "../core/ports.ts";
import { hideFile } from "../core/secrets/hide-message.ts";
import { mannerOfFile } from "../core/secrets/named-values.ts";
import type { Veil } from "../core/secrets/veil.ts";
import { isWide } from "../core/text.ts";
import { cutBytes, type Overlay } from "./stage.ts";

export type VeiledView = ReturnType<typeof createVeiledView>;

/** Lines that are searched for secrets around a shown part of a file that is too large to be searched whole. */
const linesAround = 400;

const splitLines = (text: string) => text.split(/\r\n|\n|\r/);
/** A file name shorter than this holds no secret. */
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
    path.length < minNameLength
      ? path
      : (path
          .split("/")
          .map((name) => (name.length < minNameLength ? name : veil.hideRaw(name)))
          .join("/") as RelPath);
  const hideEntry = (entry: Entry): Entry => {
    const path = hidePath(entry.path);
    const target = entry.target === null ? null : veil.hideRaw(entry.target);
    return path === entry.path && target === entry.target ? entry : { ...entry, path, target };
  };

  /** The stage for actions that read or write content. */
  const stage = (readRaw = overlay.read): Stage => {
    const read = async (path: RelPath, limit?: number): Promise<Blob | null> => hide(path, await readRaw(path, limit));
    /** The whole file; null: it is too large, or cannot be read. */
    const readWhole = (path: RelPath): Promise<Blob | null> =>
      read(path).catch((thrown) => {
        if (toPaiError(thrown).code === "file_unusable") return null;
        throw thrown;
      });

    /** Lines of a large file, hidden together with the lines around them, which may be needed to recognise a secret. */
    const readAround = async (path: RelPath, from: number, to: number): Promise<LineRange> => {
      const start = Math.max(1, from - linesAround);
      const wide = await overlay.readLines(path, start, to + linesAround);
      const asked = await overlay.readLines(path, from, to);
      const lines = splitLines(veil.hideRaw(wide.text, mannerOfFile(path))).slice(
        asked.from - start,
        asked.to - start + 1,
      );
      return { ...asked, text: lines.join("\n") };
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
      const [first, last] = [head, tail].map(({ text }) => splitLines(veil.hideOutput(text)));
      const start = (first ?? []).slice(0, lines);
      const end = (last ?? []).slice(-lines);
      return {
        head: { ...head, text: start.join("\n"), to: start.length },
        tail: { ...tail, text: end.join("\n"), from: tail.to - end.length + 1 },
      };
    };

    const search = (query: SearchQuery, signal?: AbortSignal): Promise<SearchReport> => {
      const hasSecrets = (bytes: Uint8Array) => raws.has(bytes);
      const hidden = { ...query, hide: async (text: string) => veil.hideOutput(text) };
      return searchHidden({ overlay, holders, hasSecrets, readWhole, hidePath }, hidden, signal);
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
        const hidden = entries.map(hideEntry);
        // In the order on disk, the place of a hidden name would tell how it begins.
        const isAsOnDisk = hidden.every(({ path }, at) => path === entries[at]?.path);
        return isAsOnDisk ? hidden : hidden.sort((a, b) => (a.path < b.path ? -1 : 1));
      },
      async *walk(folder, signal, unreadable) {
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
    stage: () => stage(),
    /** The stage for edits, which start from what the model was shown (`readStart`). */
    editStage: () => stage(overlay.readStart),
    hide,
    hideChange,
    hideChanges: (changes: readonly Change[]): readonly Change[] => changes.map(hideChange),
    /** The real blob behind one that the model saw. */
    rawOf: (blob: Blob | null): Blob | null => (blob?.kind === "file" ? (raws.get(blob.bytes) ?? blob) : blob),
  };
}

/** The contents that a path may have had at the start: its own, that of the path it was moved from, and `now`. */
export function contentsAtStart(changes: readonly Change[], path: RelPath, now: Blob | null): readonly Blob[] {
  const all = squash(changes);
  const change = all.find((each) => each.path === path);
  const origin = all.find((each) => each.path === change?.from);
  return [change?.before ?? null, origin?.before ?? null, now].filter((blob) => blob !== null);
}

interface VeiledFiles {
  readonly overlay: Overlay;
  /** Files that are known to hold secrets; `readWhole` adds and removes files. */
  readonly holders: Set<RelPath>;
  /** Whether the content that `readWhole` returned has names in place of secrets. */
  readonly hasSecrets: (bytes: Uint8Array) => boolean;
  /** A file as the model sees it; null: it is too large to be searched for secrets. */
  readonly readWhole: (path: RelPath) => Promise<Blob | null>;
  readonly hidePath: (path: RelPath) => RelPath;
}

/** Files with secrets as the model sees them, for the search to use instead of those on disk. */
async function hiddenFiles({ holders, hasSecrets, readWhole }: VeiledFiles): Promise<SearchQuery["staged"]> {
  const staged = new Map<RelPath, Uint8Array | null>();
  for (const path of [...holders]) {
    const blob = await readWhole(path).catch(() => null);
    if (blob?.kind === "file" && hasSecrets(blob.bytes)) staged.set(path, blob.bytes);
    else holders.delete(path);
  }
  return staged;
}

/**
 * Searches hidden text only, so that no pattern can find out a secret letter by letter: once more whenever a file with a
 * hit turns out to hold secrets.
 */
async function searchHidden(
  files: VeiledFiles,
  query: SearchQuery,
  signal: AbortSignal | undefined,
): Promise<SearchReport> {
  const { overlay, holders, readWhole, hidePath } = files;
  const limit = query.maxHits + 1;
  for (;;) {
    const staged = await hiddenFiles(files);
    const report = await overlay.search({ ...query, maxHits: limit, staged, known: hidePath }, signal);
    // Every file with a hit can be read whole: larger ones are not searched.
    for (const path of new Set(report.hits.map((hit) => hit.path))) await readWhole(path);
    if ([...holders].some((path) => !staged.has(path))) continue;
    const hits = report.hits.slice(0, query.maxHits).map((hit) => ({ ...hit, path: hidePath(hit.path) }));
    return { ...report, hits, more: report.more || report.hits.length > query.maxHits };
  }
}
