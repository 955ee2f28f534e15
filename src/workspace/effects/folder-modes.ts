/** Modes of folders around a command: what it took from one is given back, so that its work can be seen and undone. */
import { chmodSync } from "node:fs";
import { parentOf, type RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import { showName } from "../parse-path.ts";
import { refusedStat, type Stat } from "../system/stat.ts";

/** Whether a path lies in one of these folders. */
export function isBelow(folders: ReadonlySet<RelPath>, path: RelPath): boolean {
  if (folders.size === 0 || path === "") return false;
  for (let folder = parentOf(path); folder !== ""; folder = parentOf(folder)) if (folders.has(folder)) return true;
  return false;
}

/**
 * Gives a folder of this user its mode back if its owner may no longer list or enter it, and a new one the owner's
 * rights. Returns whether it did. `was`: its stat before; root may enter every folder.
 */
export function reopenFolder(root: Root, folder: RelPath, was: Stat | null | undefined, now: Stat): boolean {
  if (was === refusedStat) return false;
  const mode = was?.kind === "folder" ? was.mode : now.mode | 0o700;
  if (now.kind !== "folder" || (mode & ~now.mode & 0o500) === 0) return false;
  const self = process.geteuid?.();
  return self !== 0 && now.uid === self && setMode(root, folder, mode);
}

/** Gives folders that still exist these modes, or adds only the owner's rights of these. */
export function giveModesBack(root: Root, modes: ReadonlyMap<RelPath, number>, how: "exactly" | "adding"): void {
  // Those above first: they may have to be entered.
  for (const [folder, earlier] of [...modes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const stat = root.statOrNull(folder);
    if (stat?.kind !== "folder") continue;
    const mode = how === "exactly" ? earlier : stat.mode | (earlier & 0o700);
    if (stat.mode !== mode) setMode(root, folder, mode);
  }
}

function setMode(root: Root, folder: RelPath, mode: number): boolean {
  try {
    return (
      root.withFolder(folder, (at) => {
        chmodSync(at, mode);
        return true;
      }) ?? false
    );
  } catch {
    return false;
  }
}

/** What two looks at the workspace know of its folders. */
interface Looked {
  readonly seen: ReadonlyMap<RelPath, { readonly stat: Stat }>;
  readonly shut: ReadonlySet<RelPath>;
  readonly reopened: readonly RelPath[];
  readonly root: Stat | null;
}

/**
 * What a command changed in the rights of folders: `lost`, which can no longer be entered, and `modes`, the earlier modes
 * of those whose mode differs.
 */
export function compareAccess(before: Looked, after: Looked) {
  const modes = new Map<RelPath, number>();
  const compare = (path: RelPath, old: Stat | null | undefined, now: Stat | null | undefined) => {
    if (old?.kind === "folder" && now?.kind === "folder" && old.mode !== now.mode) modes.set(path, old.mode);
  };
  compare("" as RelPath, before.root, after.root);
  for (const [path, { stat }] of before.seen) compare(path, stat, after.seen.get(path)?.stat);
  const lost = [...after.shut].filter((path) => before.seen.has(path) && !before.shut.has(path));
  const opened = [...before.shut].filter((path) => after.seen.has(path) && !after.shut.has(path));
  const notes = [
    ...after.reopened.map((path) => `${nameOf(path)} could not be entered after it, and its owner got the rights back`),
    ...lost.map((path) => `${nameOf(path)} can no longer be entered: what changed in it cannot be taken back`),
    ...opened.map((path) => `${nameOf(path)} could not be entered before: what changed in it cannot be taken back`),
  ];
  return { modes, lost, notes };
}

const nameOf = (folder: RelPath): string => showName(folder) || "the root";
