/** A program in a sealed memory file: nobody can change it, and it leaves nothing on disk. */
import { closeSync, writeSync } from "node:fs";
import { cString, errnoName, openLibc } from "../../system/libc.ts";

const flags = { closeOnExec: 1, allowSealing: 2, executable: 0x10 } as const;
const addSeals = 1033;
const allSeals = 0xf;
const landlockVersion = 1;
const landlockCreateRuleset = 444;
const closeRange = 436;
const noDescriptor = 0xffffffff;

const shapes = {
  memfd_create: { args: ["buffer", "u32"], returns: "i32" },
  fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
  syscall: { args: ["i64", "u64", "u64", "u32"], returns: "i64" },
} as const;

/** The caller must close the descriptor. Throws a system error without memory files or FFI. */
export function openMemoryFile(bytes: Uint8Array): number {
  const libc = openLibc(shapes);
  if (libc === null) throw refusal("ENOSYS");
  const name = cString("pai");
  const base = flags.closeOnExec | flags.allowSealing;
  let fd = libc.functions.memfd_create(name, base | flags.executable);
  // Kernels before 6.3 do not know the last flag.
  if (fd < 0) fd = libc.functions.memfd_create(name, base);
  if (fd < 0) throw refusal(errnoName(libc.errno()));
  try {
    // A program that copies it reads from the current position, which must stay at the start.
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, done);
    if (libc.functions.fcntl(fd, addSeals, allSeals) !== 0) throw refusal(errnoName(libc.errno()));
    return fd;
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

const refusal = (code: string) => Object.assign(new Error(`${code}: memfd_create`), { code, step: "memfd_create" });

/** `version` 0: none. `errno`: from the kernel or a seccomp filter. */
export function findLandlock(): { readonly version: number; readonly errno: string | null } {
  const libc = openLibc(shapes);
  if (libc === null) return { version: 0, errno: "ENOSYS" };
  const version = Number(libc.functions.syscall(landlockCreateRuleset, 0, 0, landlockVersion));
  return version > 0 ? { version, errno: null } : { version: 0, errno: errnoName(libc.errno()) };
}

/** Linux 5.9 or later, and no seccomp filter against it. */
export const closesRanges = (): boolean =>
  Number(openLibc(shapes)?.functions.syscall(closeRange, noDescriptor, noDescriptor, 0) ?? 0) === 0;
