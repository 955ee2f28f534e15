/** Looks at many files quickly to tell which have changed. Returns only numbers, never content. */
import { existsSync, lstatSync } from "node:fs";
import type { Root } from "../confine.ts";

export interface Stamp {
  readonly kind: "file" | "folder" | "other";
  readonly size: number;
  /** Milliseconds; -1: changed so lately that another change could look the same. */
  readonly mtime: number;
  readonly inode: number;
}

/** Two changes within one tick of the file system's clock have one time. */
const tickMs = 100;

/** The result looks at a path below the root; null: nothing is there. */
export function openStamps(root: Root): (path: string) => Stamp | null {
  const pinned = `/proc/self/fd/${root.lent.fd}`;
  const base = existsSync(`${pinned}/.`) ? pinned : root.path;
  return (path) => {
    try {
      const stat = lstatSync(path === "" ? `${base}/.` : `${base}/${path}`, { throwIfNoEntry: false });
      if (stat === undefined) return null;
      const kind = stat.isFile() ? "file" : stat.isDirectory() ? "folder" : "other";
      const mtime = Date.now() - stat.mtimeMs < tickMs ? -1 : stat.mtimeMs;
      return { kind, size: kind === "file" ? stat.size : 0, mtime, inode: stat.ino };
    } catch {
      return null;
    }
  };
}

/** Whether a file is as it was when it was looked into. */
export const isSame = (known: Pick<Stamp, "size" | "mtime" | "inode">, now: Stamp): boolean =>
  known.mtime >= 0 && known.mtime === now.mtime && known.size === now.size && known.inode === now.inode;
