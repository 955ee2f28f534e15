/** Finds what a command changed: the workspace before and after it, by identity first and by bytes where it matters. */
import { type Blob, type Change, sameBlob } from "../../core/change.ts";
import type { RelPath } from "../../core/path.ts";
import { namesIn, sameObject } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import { joinPath, showName } from "../parse-path.ts";
import type { PathRules } from "../policy.ts";
import { walk } from "../scan.ts";
import type { Stat } from "../system/stat.ts";
import type { Traits } from "../traits.ts";

interface Seen {
  readonly stat: Stat;
  /** The content; null: not kept, as it is large, unreadable, or the limits of a snapshot are reached. */
  readonly blob: Blob | null;
}

/** What stands in the workspace at one moment, without what is ignored or denied. */
export interface Snapshot {
  readonly seen: ReadonlyMap<RelPath, Seen>;
  /** Paths that are ignored or denied: only that they are there is known. */
  readonly hidden: ReadonlySet<RelPath>;
  /** Whether there were more files than content is kept of. */
  readonly partial: boolean;
}

export interface Comparison {
  readonly changes: readonly Change[];
  /** The owner before the command; attributes are left out, as the command may have changed them. */
  readonly traits: ReadonlyMap<RelPath, Traits>;
  /** What changed and cannot be taken back, one line each. */
  readonly notes: readonly string[];
}

export interface KeepLimits {
  readonly files: number;
  readonly totalBytes: number;
  readonly fileBytes: number;
}

export interface SnapshotOptions {
  readonly limits?: KeepLimits;
  /** Ends the look; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

const keepLimits: KeepLimits = { files: 20_000, totalBytes: 64 * 1024 * 1024, fileBytes: 1024 * 1024 };
const maxNotes = 20;

/** Looks at the whole workspace. Content that `earlier` has of the same unchanged file is not read again. */
export async function takeSnapshot(
  root: Root,
  rules: PathRules,
  earlier: Snapshot | null,
  { limits = keepLimits, signal }: SnapshotOptions = {},
): Promise<Snapshot> {
  const seen = new Map<RelPath, Seen>();
  let bytes = 0;
  for await (const { path } of walk(root, "" as RelPath, rules, { signal })) {
    const stat = root.stat(path);
    if (stat === null) continue;
    const room = seen.size < limits.files ? Math.min(limits.fileBytes, limits.totalBytes - bytes) : -1;
    const known = earlier?.seen.get(path);
    const same = known !== undefined && sameObject(known.stat, stat) && known.stat.mode === stat.mode;
    const blob = same ? known.blob : blobOf(root, path, stat, room);
    if (blob?.kind === "file") bytes += blob.bytes.length;
    seen.set(path, { stat, blob });
  }
  return { seen, hidden: await hiddenNames(root, seen, signal), partial: seen.size > limits.files };
}

/** What changed from one snapshot to the next: changes where both contents are kept, notes for all else. */
export function compareSnapshots(before: Snapshot, after: Snapshot): Comparison {
  const changes: Change[] = [];
  const traits = new Map<RelPath, Traits>();
  const notes: string[] = [];
  for (const path of new Set([...before.seen.keys(), ...after.seen.keys()])) {
    const old = before.seen.get(path) ?? null;
    const now = after.seen.get(path) ?? null;
    if (isSame(old, now)) continue;
    if (old?.blob === null || now?.blob === null) {
      notes.push(`${showName(path)} changed and was not kept, so it cannot be taken back`);
    } else {
      changes.push({ path, before: old?.blob ?? null, after: now?.blob ?? null, from: null });
      if (old) traits.set(path, { uid: old.stat.uid, gid: old.stat.gid, attributes: {} });
    }
  }
  const come = [...after.hidden].filter((path) => !before.hidden.has(path));
  const gone = [...before.hidden].filter((path) => !after.hidden.has(path));
  notes.push(...come.map((path) => `${showName(path)} is new and ignored, so it stays`));
  notes.push(...gone.map((path) => `${showName(path)} was ignored and is gone, and cannot be brought back`));
  return { changes, traits, notes: withinLimit(notes, before.partial || after.partial) };
}

function blobOf(root: Root, path: RelPath, stat: Stat, room: number): Blob | null {
  if (stat.kind === "folder") return { kind: "folder", mode: stat.mode };
  if (stat.kind === "link") return { kind: "link", target: stat.target ?? "" };
  if (stat.kind === "special" || stat.size > room) return null;
  try {
    const file = root.readBytes(path, room);
    return file && { kind: "file", bytes: file.bytes, mode: file.stat.mode };
  } catch {
    // Unreadable, or grown meanwhile: not kept, and named should it change.
    return null;
  }
}

function isSame(old: Seen | null, now: Seen | null): boolean {
  if (old === null || now === null) return false;
  if (old.stat.kind === "folder" && now.stat.kind === "folder") return true;
  if (sameObject(old.stat, now.stat) && old.stat.mode === now.stat.mode) return true;
  return old.blob !== null && now.blob !== null && sameBlob(old.blob, now.blob);
}

/** Paths in the folders of a snapshot that it leaves out: ignored and denied ones. */
async function hiddenNames(
  root: Root,
  seen: ReadonlyMap<RelPath, Seen>,
  signal: AbortSignal | undefined,
): Promise<Set<RelPath>> {
  let pause = performance.now();
  const folders: RelPath[] = ["" as RelPath];
  for (const [path, { stat }] of seen) if (stat.kind === "folder") folders.push(path);
  const hidden = new Set<RelPath>();
  for (const folder of folders) {
    if (performance.now() - pause > 20) {
      await Bun.sleep(0);
      signal?.throwIfAborted();
      pause = performance.now();
    }
    for (const name of namesOrNone(root, folder)) {
      const path = joinPath(folder, name);
      if (!seen.has(path)) hidden.add(path);
    }
  }
  return hidden;
}

function namesOrNone(root: Root, folder: RelPath): readonly string[] {
  try {
    return namesIn(root, folder) ?? [];
  } catch {
    return [];
  }
}

function withinLimit(notes: readonly string[], partial: boolean): string[] {
  const shown = notes.length > maxNotes ? [...notes.slice(0, maxNotes), `and ${notes.length - maxNotes} more`] : notes;
  const why = "there are too many files here to keep all: some changes of commands cannot be taken back";
  return partial ? [...shown, why] : [...shown];
}
