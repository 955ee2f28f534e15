/** Rights of folders around a command: what it took from the owner is given back, so that its work is seen and undone. */

import { chmodSync } from "node:fs";
import { orNull } from "../../core/error.ts";
import { foldersAbove, type RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import { showName } from "../parse-path.ts";
import { refusedStat, type Stat } from "../system/stat.ts";

export const isBelow = (folders: ReadonlySet<RelPath>, path: RelPath): boolean =>
  folders.size > 0 && foldersAbove(path).some((folder) => folders.has(folder));

/** Gives a folder of this user the owner's rights that it lacks after a command. Returns whether it did. */
export function reopenFolder(root: Root, folder: RelPath, was: Stat | null | undefined, now: Stat): boolean {
  if (was === refusedStat) return false;
  const mode = was?.kind === "folder" ? was.mode : now.mode | 0o700;
  if (now.kind !== "folder" || (mode & ~now.mode & 0o700) === 0) return false;
  const self = process.geteuid?.();
  if (self === 0 || now.uid !== self) return false;
  const reopen = (at: string): true => {
    chmodSync(at, mode);
    return true;
  };
  return orNull(() => root.withFolder(folder, reopen)) ?? false;
}

interface Looked {
  readonly seen: ReadonlyMap<RelPath, { readonly stat: Stat }>;
  readonly shut: ReadonlySet<RelPath>;
  readonly reopened: readonly RelPath[];
}

/** `lost`: folders that can no longer be entered. */
export function compareAccess(before: Looked, after: Looked) {
  const lost = [...after.shut].filter((path) => before.seen.has(path) && !before.shut.has(path));
  const opened = [...before.shut].filter((path) => after.seen.has(path) && !after.shut.has(path));
  const notes = [
    ...after.reopened.map((path) => `${nameOf(path)} lacked rights of its owner after it, who got them back`),
    ...lost.map((path) => `${nameOf(path)} can no longer be entered: what changed in it cannot be taken back`),
    ...opened.map((path) => `${nameOf(path)} could not be entered before: what changed in it cannot be taken back`),
  ];
  return { lost, notes };
}

const nameOf = (folder: RelPath): string => showName(folder) || "the root";
