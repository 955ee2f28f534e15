/** Content of paths, kept so that a command's changes can be undone, and the comparison of two looks at them. */
import { type Blob, type Change, sameBlob, type UnkeptChange } from "../../core/change.ts";
import type { RelPath } from "../../core/path.ts";
import { sameObject } from "../atomic-write.ts";
import type { ReadFile, Root } from "../confine.ts";
import { showName } from "../parse-path.ts";
import { refusedStat, type Stat } from "../system/stat.ts";
import type { Traits } from "../traits.ts";

export interface Kept {
  readonly stat: Stat;
  /** null: not kept, since it is too large or unreadable, or a limit is reached. */
  readonly blob: Blob | null;
}

export interface Comparison {
  readonly changes: readonly Change[];
  /** The owner before the command. Attributes are left out: the command may have changed them. */
  readonly traits: ReadonlyMap<RelPath, Traits>;
  /** Changes that cannot be undone, one line each. */
  readonly notes: readonly string[];
  readonly unkept: readonly UnkeptChange[];
}

/** The content of a path; of a file only up to `room` bytes. null: it is not kept. */
export const blobOf = (root: Root, path: RelPath, stat: Stat, room: number): Blob | null =>
  readBlob(stat, room, (limit) => root.readBytes(path, limit));

/** Like `blobOf`; `read` returns the file's content, of at most `limit` bytes, or null if it is gone. */
export function readBlob(stat: Stat, room: number, read: (limit: number) => ReadFile | null): Blob | null {
  if (stat.kind === "folder") return { kind: "folder", mode: stat.mode };
  if (stat.kind === "link") return { kind: "link", target: stat.target ?? "" };
  if (stat.kind === "special" || stat.size > room) return null;
  try {
    const file = read(room);
    return file && { kind: "file", bytes: file.bytes, mode: file.stat.mode };
  } catch {
    // It is unreadable or has grown meanwhile; a change of it is reported.
    return null;
  }
}

/** The stat of a path; null: nothing is there, or it cannot be looked at. */
export function statOrNull(root: Root, path: RelPath): Stat | null {
  try {
    return root.stat(path);
  } catch {
    return null;
  }
}

export const isUntouched = (old: Stat, now: Stat): boolean => sameObject(old, now) && old.mode === now.mode;

export function isSame(old: Kept | null, now: Kept | null): boolean {
  if (old === now) return true;
  if (old === null || now === null) return false;
  if (old.stat.kind === "folder" && now.stat.kind === "folder") return true;
  if (isUntouched(old.stat, now.stat)) return true;
  return old.blob !== null && now.blob !== null && sameBlob(old.blob, now.blob);
}

function whyLost(old: Kept | null, now: Kept | null): string {
  if (old?.stat === refusedStat) return "could not be looked at before";
  return now?.stat === refusedStat ? "can no longer be looked at" : "changed and was not kept";
}

/** Collects the differences. `lost` ends the note on a change that was not kept ("cannot be taken back"). */
export function openComparison(lost: string) {
  const changes: Change[] = [];
  const traits = new Map<RelPath, Traits>();
  const notes: string[] = [];
  const unkept: UnkeptChange[] = [];
  return {
    changes,
    traits,
    notes,
    unkept,
    /** null: the path did, or does, not exist. */
    compare(path: RelPath, old: Kept | null, now: Kept | null): void {
      if (isSame(old, now)) return;
      if (old?.blob === null || now?.blob === null) {
        notes.push(`${showName(path)} ${whyLost(old, now)}, so it ${lost}`);
        unkept.push({ path, isGone: now === null, isIgnored: false });
        return;
      }
      changes.push({ path, before: old?.blob ?? null, after: now?.blob ?? null, from: null });
      if (old) traits.set(path, { uid: old.stat.uid, gid: old.stat.gid, attributes: {} });
    },
  };
}
