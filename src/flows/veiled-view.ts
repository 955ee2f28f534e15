/** The workspace as the model may know it: every secret by its name, in what is read, listed and searched. */
import { type Blob, type Change, squash } from "../core/change.ts";
import { toPaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import type { Entry, LineRange, SearchQuery, SearchReport, Stage } from "../core/ports.ts";
import type { Veil } from "../core/secrets/veil.ts";
import { isWide } from "../core/text.ts";
import type { Overlay } from "./stage.ts";

type FileBlob = Extract<Blob, { kind: "file" }>;

interface Hidden {
  readonly raw: FileBlob;
  readonly hidden: FileBlob;
  /** Of the veil when it was hidden. */
  readonly version: number;
}

export interface VeiledView {
  /**
   * The stage for actions that look, and for those that write what the model knows by names. What it answers waits for
   * `turn`: calls that look at the same time give names in the order of the calls.
   */
  stage(turn?: Promise<unknown>): Stage;
  /** A blob as the model may see it. */
  hide(path: RelPath, blob: Blob | null): Blob | null;
  /** Changes as the model may see them: parts of their diff may be cut out safely. */
  hideChanges(changes: readonly Change[]): readonly Change[];
  /** The blob that a staged blob represents. */
  rawOf(blob: Blob | null): Blob | null;
}

/** Lines around a part of a file that is too large to be looked through whole. */
const around = 400;
/** Files that are kept hidden, so that they need not be looked through again. */
const maxKept = 64;

const splitLines = (text: string) => text.split(/\r\n|\n|\r/);
/** A name shorter than this holds no secret. */
const leastName = 16;

export function createVeiledView(overlay: Overlay, veil: Veil): VeiledView {
  const kept = new Map<RelPath, Hidden>();
  const raws = new WeakMap<Uint8Array, FileBlob>();
  /** Files that hold secrets: they are searched as the model knows them. */
  const holders = new Set<RelPath>();

  const keep = (path: RelPath, entry: Hidden): void => {
    kept.delete(path);
    kept.set(path, entry);
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
  };

  const hideFile = (path: RelPath, raw: FileBlob): FileBlob => {
    const known = kept.get(path);
    const same = known !== undefined && Buffer.compare(known.raw.bytes, raw.bytes) === 0;
    if (same && known.version === veil.version) return { ...known.hidden, mode: raw.mode };
    const isBinary = raw.bytes.subarray(0, 8000).includes(0) && !isWide(raw.bytes);
    const bytes = isBinary ? raw.bytes : veil.hideBytes(raw.bytes);
    const hidden = bytes === raw.bytes ? raw : { ...raw, bytes };
    keep(path, { raw, hidden, version: veil.version });
    if (hidden === raw) holders.delete(path);
    else {
      holders.add(path);
      raws.set(bytes, raw);
    }
    return hidden;
  };
  const hide = (path: RelPath, blob: Blob | null): Blob | null => (blob?.kind === "file" ? hideFile(path, blob) : blob);

  const hidePath = (path: RelPath): RelPath =>
    path.length < leastName
      ? path
      : (path
          .split("/")
          .map((name) => (name.length < leastName ? name : veil.hideRaw(name)))
          .join("/") as RelPath);
  const hideEntry = (entry: Entry): Entry => {
    const path = hidePath(entry.path);
    const target = entry.target === null ? null : veil.hideRaw(entry.target);
    return path === entry.path && target === entry.target ? entry : { ...entry, path, target };
  };

  const open = (turn: Promise<unknown>): Stage => {
    const read = async (path: RelPath, limit?: number): Promise<Blob | null> => {
      const blob = await overlay.read(path, limit);
      await turn;
      return hide(path, blob);
    };
    /** null: it is too large to be looked through whole, or cannot be read. */
    const readWhole = (path: RelPath): Promise<Blob | null> =>
      read(path).catch((thrown) => {
        if (toPaiError(thrown).code === "file_unusable") return null;
        throw thrown;
      });

    /** A secret in a part of a large file may only be recognised by the text around it. */
    const readAround = async (path: RelPath, from: number, to: number): Promise<LineRange> => {
      const start = Math.max(1, from - around);
      const wide = await overlay.readLines(path, start, to + around);
      const asked = await overlay.readLines(path, from, to);
      await turn;
      const lines = splitLines(veil.hideRaw(wide.text)).slice(asked.from - start, asked.to - start + 1);
      return { ...asked, text: lines.join("\n") };
    };

    const readLines = async (path: RelPath, from: number, to: number): Promise<LineRange> => {
      const blob = await readWhole(path);
      if (blob?.kind !== "file") return readAround(path, from, to);
      if (!raws.has(blob.bytes) || isWide(blob.bytes)) return overlay.readLines(path, from, to);
      const lines = splitLines(new TextDecoder().decode(blob.bytes));
      if (lines.at(-1) === "") lines.pop();
      const last = Math.min(to, lines.length);
      return { text: lines.slice(from - 1, last).join("\n"), from, to: last, total: lines.length };
    };

    // Most runs search nothing before their first request.
    const search = async (query: SearchQuery, signal?: AbortSignal): Promise<SearchReport> => {
      const { searchVeiled } = await import("./veiled-search.ts");
      const hasSecrets = (bytes: Uint8Array) => raws.has(bytes);
      return searchVeiled({ overlay, holders, hasSecrets, readWhole, hidePath, turn }, query, signal);
    };

    return {
      room: overlay.room,
      path: (text, use) => overlay.path(text, use),
      shown(path) {
        const bytes = overlay.shown(path);
        return bytes === null ? null : hideFile(path, { kind: "file", bytes, mode: 0 }).bytes;
      },
      read,
      readLines,
      async list(folder) {
        const entries = await overlay.list(folder);
        await turn;
        const hidden = entries.map(hideEntry);
        // The place of a name among others would tell how it begins.
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

  return {
    stage: (turn = Promise.resolve()) => open(turn),
    hide,
    hideChanges: (changes) =>
      changes.map((change) => ({
        ...change,
        before: hide(change.path, change.before),
        after: hide(change.path, change.after),
      })),
    rawOf: (blob) => (blob?.kind === "file" ? (raws.get(blob.bytes) ?? blob) : blob),
  };
}

/** A path's content when the run began, and where it was moved from; `now` is returned where nothing changed. */
export function contentsAtStart(changes: readonly Change[], path: RelPath, now: Blob | null): readonly Blob[] {
  const all = squash(changes);
  const change = all.find((each) => each.path === path);
  const origin = all.find((each) => each.path === change?.from);
  return [change?.before ?? null, origin?.before ?? null, now].filter((blob) => blob !== null);
}
