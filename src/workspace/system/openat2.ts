/** The openat2 call of Linux 5.6 and later: opens a folder far below another, with no link on the way. */
import { constants as system } from "node:os";
import { openLibc } from "../../system/libc.ts";

/**
 * Opens `path` below the folder `fd`; returns a descriptor, or the negative errno. The kernel refuses `..` out of the
 * folder, links, and paths through /proc.
 */
export type OpenBelow = (fd: number, path: string, flags: number) => number;

const openat2Number = 437;
/** RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS. */
const resolve = 0x08n | 0x04n | 0x02n;
const maxPathBytes = 4096;
const maxTries = 16;

/** null: this system or runtime has no such call. Takes half a millisecond. */
export function loadOpenBelow(): OpenBelow | null {
  const libc = openLibc({ syscall: { args: ["i64", "i32", "buffer", "buffer", "u64"], returns: "i32" } });
  if (libc === null) return null;
  const { functions, errno } = libc;
  const name = new Uint8Array(maxPathBytes);
  const how = new BigUint64Array([0n, 0n, resolve]);
  const encoder = new TextEncoder();
  return (fd, path, flags) => {
    const { read: used, written } = encoder.encodeInto(path, name);
    if (used < path.length || written >= maxPathBytes) return -system.errno.ENAMETOOLONG;
    // The kernel would stop at the first NUL and open another path.
    if (path.includes("\0")) return -system.errno.EINVAL;
    name[written] = 0;
    how[0] = BigInt(flags);
    for (let tries = 1; ; tries += 1) {
      // Arrays passed as arguments stay alive during the call; with a pointer taken before it they might not.
      const opened = functions.syscall(openat2Number, fd, name, how, how.byteLength);
      if (opened >= 0) return opened;
      const why = errno();
      if ((why !== system.errno.EINTR && why !== system.errno.EAGAIN) || tries === maxTries) return -why;
    }
  };
}
