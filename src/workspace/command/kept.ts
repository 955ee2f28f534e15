/** Copies of paths, kept so that a command's changes can be taken back, and the comparison of two looks at them. */
import { type Blob, type Change, sameBlob, type UnkeptChange } from "../../core/change.ts";
import type { RelPath } from "../../core/path.ts";
import { sameObject } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import { showName } from "../parse-path.ts";
import type { Stat } from "../system/stat.ts";
import type { Traits } from "../traits.ts";

export interface Kept {
  readonly stat: Stat;
  /** The content; null: not kept, as it is large, unreadable, or the limits of what is kept are reached. */
  readonly blob: Blob | null;
}

export interface Comparison {
  readonly changes: readonly Change[];
  /** The owner before the command; attributes are left out, as the command may have changed them. */
  readonly traits: ReadonlyMap<RelPath, Traits>;
  /** What changed and cannot be taken back, one line each. */
  readonly notes: readonly string[];
  readonly unkept: readonly UnkeptChange[];
}

/** The content of a path, of a file at most `room` bytes; null: it is not to be kept. */
export function blobOf(root: Root, path: RelPath, stat: Stat, room: number): Blob | null {
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

/** What is at a path; null: nothing, or nothing that can be looked at. */
export function statUnlessUnusable(root: Root, path: RelPath): Stat | null {
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

/** Collects what differs; `lost` ends the line about what changed and was not kept ("cannot be taken back"). */
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
    /** null: nothing was, or is, there. */
    compare(path: RelPath, old: Kept | null, now: Kept | null): void {
      if (isSame(old, now)) return;
      if (old?.blob === null || now?.blob === null) {
        notes.push(`${showName(path)} changed and was not kept, so it ${lost}`);
        unkept.push({ path, isGone: now === null, isIgnored: false });
        return;
      }
      changes.push({ path, before: old?.blob ?? null, after: now?.blob ?? null, from: null });
      if (old) traits.set(path, { uid: old.stat.uid, gid: old.stat.gid, attributes: {} });
    },
  };
}
