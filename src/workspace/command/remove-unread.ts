/** Removes what a command put at a closed path and pai did not read, so that what was there before can come back. */
import type { RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import type { Disk } from "../system/disk.ts";
import type { Stat } from "../system/stat.ts";
import { isUntouched, statUnlessUnusable } from "./kept.ts";

/** What somebody else has touched since is left. */
export function removeUnread(root: Root, disk: Disk, unread: Iterable<readonly [RelPath, Stat]>): void {
  for (const [path, stat] of unread) {
    const now = statUnlessUnusable(root, path);
    if (now === null || now.kind === "folder" || !isUntouched(stat, now)) continue;
    root.withParent(path, (at, name) => disk.removeFile(`${at}/${name}`));
  }
}
