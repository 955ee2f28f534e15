/** Removes unread content that a command put at a closed path, so that the original can be restored. */
import type { RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import type { Disk } from "../system/disk.ts";
import type { Stat } from "../system/stat.ts";
import { isUntouched, statOrNull } from "./kept.ts";

/** Leaves a path that somebody else has touched since. */
export function removeUnread(root: Root, disk: Disk, unread: Iterable<readonly [RelPath, Stat]>): void {
  for (const [path, stat] of unread) {
    const now = statOrNull(root, path);
    if (now === null || now.kind === "folder" || !isUntouched(stat, now)) continue;
    root.withParent(path, (at, name) => disk.removeFile(`${at}/${name}`));
  }
}
