/** Looks at many files quickly to tell which have changed. Returns only numbers, never content. */
import { existsSync, lstatSync } from "node:fs";
import type { Root } from "../confine.ts";
import { openStatx } from "../system/statx.ts";

export interface Stamp {
  readonly kind: "file" | "folder" | "other";
  readonly size: number;
  /** Milliseconds; -1: changed so lately that another change could look the same. */
  readonly mtime: number;
  readonly inode: number;
}

/** Two changes within one tick of the file system's clock have one time. */
const tickMs = 100;

/** Looks at a path below the root; null: nothing is there. */
type TakeStamp = (path: string) => Stamp | null;

const isFresh = (mtime: number) => Date.now() - mtime < tickMs;

/** By libc, in half the time of node:fs; null: it cannot be called here. */
function throughLibc(root: Root): TakeStamp | null {
  const look = openStatx();
  const { fd } = root.lent;
  if (look === null || fd === null) return null;
  const stampOf: TakeStamp = (path) => {
    const stat = look(fd, path === "" ? "." : path);
    if (stat === null) return null;
    const { kind, size, mtime, inode } = stat;
    return { kind, size: kind === "file" ? size : 0, mtime: isFresh(mtime) ? -1 : mtime, inode };
  };
  return stampOf("") === null ? null : stampOf;
}

function throughNode(root: Root): TakeStamp {
  const pinned = `/proc/self/fd/${root.lent.fd}`;
  const base = existsSync(`${pinned}/.`) ? pinned : root.path;
  return (path) => {
    try {
      const stat = lstatSync(path === "" ? `${base}/.` : `${base}/${path}`, { throwIfNoEntry: false });
      if (stat === undefined) return null;
      const kind = stat.isFile() ? "file" : stat.isDirectory() ? "folder" : "other";
      const mtime = isFresh(stat.mtimeMs) ? -1 : stat.mtimeMs;
      return { kind, size: kind === "file" ? stat.size : 0, mtime, inode: stat.ino };
    } catch {
      return null;
    }
  };
}

/** Links are not followed. */
export const openStamps = (root: Root): TakeStamp => throughLibc(root) ?? throughNode(root);

/** Whether a file is as it was when it was looked into. */
export const isSame = (known: Pick<Stamp, "size" | "mtime" | "inode">, now: Stamp): boolean =>
  known.mtime >= 0 && known.mtime === now.mtime && known.size === now.size && known.inode === now.inode;
