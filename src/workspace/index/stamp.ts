/** Stats many files quickly to tell which have changed. Returns only numbers, never content. */
import { existsSync, lstatSync } from "node:fs";
import type { Root } from "../confine.ts";
import { openStatx } from "../system/statx.ts";

export interface Stamp {
  readonly kind: "file" | "folder" | "other";
  readonly size: number;
  /** Milliseconds: time of its last change; -1: changed so recently that another change could leave the same time. */
  readonly changed: number;
  readonly inode: number;
}

/** Two changes within one tick of the file system's clock get the same time. */
const tickMs = 100;

/** Stats a path below the root; null: nothing is there. */
type TakeStamp = (path: string) => Stamp | null;

/**
 * The later of mtime and ctime. Programs can set mtime back, as archives with fixed times do; ctime is set by the system alone.
 */
function changeOf(mtime: number, ctime: number): number {
  const last = Math.max(mtime, ctime);
  return Date.now() - last < tickMs ? -1 : last;
}

/** Calls libc, which takes half the time of node:fs; null: not possible here. */
function throughLibc(root: Root): TakeStamp | null {
  const look = openStatx();
  const { fd } = root.lent;
  if (look === null || fd === null) return null;
  const stampOf: TakeStamp = (path) => {
    const stat = look(fd, path === "" ? "." : path);
    if (stat === null) return null;
    const { kind, size, mtime, ctime, inode } = stat;
    return { kind, size: kind === "file" ? size : 0, changed: changeOf(mtime, ctime), inode };
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
      const changed = changeOf(stat.mtimeMs, stat.ctimeMs);
      return { kind, size: kind === "file" ? stat.size : 0, changed, inode: stat.ino };
    } catch {
      return null;
    }
  };
}

/** Stats paths without following links. */
export const openStamps = (root: Root): TakeStamp => throughLibc(root) ?? throughNode(root);

/** Whether a file is unchanged since `known` was taken. */
export const isSame = (known: Pick<Stamp, "size" | "changed" | "inode">, now: Stamp): boolean =>
  known.changed >= 0 && known.changed === now.changed && known.size === now.size && known.inode === now.inode;
