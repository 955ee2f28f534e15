/** System calls that Bun does not offer, as functions that throw PaiError; loaded at first use. */
import { closeSync, constants as modes, openSync } from "node:fs";
import { constants as system } from "node:os";
import { cString, openLibc } from "../../system/libc.ts";

const shapes = {
  syscall: { args: ["i64", "i32", "buffer", "i32", "buffer", "u32"], returns: "i64" },
  llistxattr: { args: ["buffer", "buffer", "u64"], returns: "i64" },
  lgetxattr: { args: ["buffer", "buffer", "buffer", "u64"], returns: "i64" },
  lsetxattr: { args: ["buffer", "buffer", "buffer", "u64", "i32"], returns: "i32" },
  lremovexattr: { args: ["buffer", "buffer"], returns: "i32" },
  fcntl: { args: ["i32", "i32", "i64"], returns: "i32" },
} as const;

/** Called by number, since not every libc has renameat2; the number depends on the machine. */
const renameat2: Readonly<Record<string, number>> = { x64: 316, arm64: 276 };
const renameFlags = { noReplace: 1, exchange: 2 } as const;
const largestAttributes = 65_536;
/** The last one is also EOPNOTSUPP. */
const unsupported = [system.errno.EINVAL, system.errno.ENOSYS, system.errno.ENOTSUP];

/** null: there is no FFI, or no usable libc. Links are not followed; all throw system errors. */
export function systemCalls() {
  const libc = openLibc(shapes);
  const renameNumber = renameat2[process.arch];
  if (libc === null || renameNumber === undefined) return null;
  const { functions, errno } = libc;

  const check = (result: number | bigint, call: string, tolerated: readonly number[] = []): number => {
    if (result >= 0) return Number(result);
    const number = errno();
    if (tolerated.includes(number)) return -number;
    throw systemError(number, call);
  };
  const rename = (from: string, to: string, flags: number): boolean => {
    const result = functions.syscall(renameNumber, currentFolder, cString(from), currentFolder, cString(to), flags);
    return check(result, "renameat2", unsupported) === 0;
  };

  return {
    /** False: this file system cannot, as below. */
    exchange: (a: string, b: string) => rename(a, b, renameFlags.exchange),
    /** Throws EEXIST. */
    renameNew: (to: string, from: string) => rename(from, to, renameFlags.noReplace),
    listAttributes(path: string): readonly string[] {
      const list = (names: Uint8Array, room: number) =>
        check(functions.llistxattr(cString(path), names, room), "llistxattr", unsupported);
      // With no buffer it returns the length: most files have no attribute.
      if (list(cString(""), 0) <= 0) return [];
      const names = Buffer.alloc(largestAttributes);
      const length = list(names, names.length);
      return length <= 0 ? [] : names.toString("utf8", 0, length - 1).split("\0");
    },
    readAttribute(path: string, name: string): Uint8Array | null {
      const value = Buffer.alloc(largestAttributes);
      const result = functions.lgetxattr(cString(path), cString(name), value, value.length);
      const length = check(result, "lgetxattr", [system.errno.ENODATA]);
      return length < 0 ? null : Uint8Array.prototype.slice.call(value, 0, length);
    },
    writeAttribute(path: string, name: string, value: Uint8Array): void {
      // An empty array has no address to pass; the length argument says that none of it counts.
      const bytes = value.length > 0 ? value : Buffer.alloc(1);
      check(functions.lsetxattr(cString(path), cString(name), bytes, value.length, 0), "lsetxattr");
    },
    removeAttribute(path: string, name: string): void {
      check(functions.lremovexattr(cString(path), cString(name)), "lremovexattr", [system.errno.ENODATA]);
    },
    hasWriter(path: string): boolean {
      const fd = openSync(path, modes.O_RDONLY | modes.O_NOFOLLOW | modes.O_NONBLOCK);
      try {
        // The kernel grants a read lease only if nobody has the file open for writing. SIGIO would end the process,
        // SIGURG not.
        functions.fcntl(fd, fcntl.setSignal, SIGURG);
        const refused = functions.fcntl(fd, fcntl.setLease, fcntl.readLock) < 0 && errno() === system.errno.EAGAIN;
        functions.fcntl(fd, fcntl.setLease, fcntl.unlock);
        return refused;
      } finally {
        closeSync(fd);
      }
    },
  };
}

/** AT_FDCWD; every path here is absolute. */
const currentFolder = -100;
const SIGURG = 23n;
const fcntl = { setSignal: 10, setLease: 1024, readLock: 0n, unlock: 2n } as const;

/** Like an error of node:fs. */
function systemError(number: number, call: string): Error {
  const code = Object.entries(system.errno).find(([, value]) => value === number)?.[0] ?? "EIO";
  return Object.assign(new Error(`${code}: ${call}`), { code, errno: -number, syscall: call });
}
