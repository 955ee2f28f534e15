/** The statx call of Linux 4.11 and later: stats many files in half the time of node:fs. */
import { openLibc } from "./libc.ts";

export interface QuickStat {
  readonly kind: "file" | "folder" | "other";
  /** Bytes. */
  readonly size: number;
  /** Milliseconds; programs can set it. */
  readonly mtime: number;
  /** Milliseconds; the system sets it at every change of content, name or rights. */
  readonly ctime: number;
  readonly inode: number;
}

/** Stats `path` below the folder `fd` without following links; null: it cannot be read. */
export type LookAt = (fd: number, path: string) => QuickStat | null;

/** Called by number, since not every libc has a function for it; the number depends on the machine. */
const statx: Readonly<Record<string, number>> = { x64: 332, arm64: 291 };
/** AT_SYMLINK_NOFOLLOW, AT_NO_AUTOMOUNT. */
const flags = 0x100 | 0x800;
/** STATX_TYPE, STATX_MTIME, STATX_CTIME, STATX_INO, STATX_SIZE. */
const wanted = 0x001 | 0x040 | 0x080 | 0x100 | 0x200;
const maxPathBytes = 4096;
const high = 2 ** 32;
/** Positions of the fields in `struct statx`, in units of 4 bytes. */
const at = { mode: 7, inode: 8, size: 10, ctime: 24, mtime: 28 } as const;
const types = { mask: 0o170000, file: 0o100000, folder: 0o040000 } as const;

/** null: there is no FFI, or an unknown machine. Whether the kernel allows the call shows at its first use. */
export function openStatx(): LookAt | null {
  const number = statx[process.arch];
  if (number === undefined) return null;
  const libc = openLibc({ syscall: { args: ["i64", "i32", "buffer", "i32", "u32", "buffer"], returns: "i32" } });
  if (libc === null) return null;
  const { syscall } = libc.functions;
  const encoder = new TextEncoder();
  const name = new Uint8Array(maxPathBytes);
  const fields = new Uint32Array(64);
  const wide = (place: number) => (fields[place] ?? 0) + (fields[place + 1] ?? 0) * high;
  const time = (place: number) => {
    const seconds = (fields[place] ?? 0) + ((fields[place + 1] ?? 0) | 0) * high;
    return seconds * 1000 + (fields[place + 2] ?? 0) / 1e6;
  };
  return (fd, path) => {
    const { read: used, written } = encoder.encodeInto(path, name);
    // The kernel would stop at the first NUL and look at another path.
    if (used < path.length || written >= maxPathBytes || path.includes("\0")) return null;
    name[written] = 0;
    if (syscall(number, fd, name, flags, wanted, fields) < 0) return null;
    const type = (fields[at.mode] ?? 0) & types.mask;
    return {
      kind: type === types.file ? "file" : type === types.folder ? "folder" : "other",
      size: wide(at.size),
      mtime: time(at.mtime),
      ctime: time(at.ctime),
      inode: wide(at.inode),
    };
  };
}
