/** A program file in memory that nobody can change any more: no path, no disk, nothing left behind. */
import { closeSync, writeSync } from "node:fs";
import { getSystemErrorName } from "node:util";
import { cString, openLibc } from "../system/libc.ts";

const flags = { closeOnExec: 1, allowSealing: 2, executable: 0x10 } as const;
const addSeals = 1033;
/** No further seals, no shrinking, growing or writing. */
const allSeals = 0xf;
const landlockVersion = 1;
const landlockCreateRuleset = 444;
const closeRange = 436;
const noDescriptor = 0xffffffff;

function loadCalls() {
  const libc = openLibc({
    memfd_create: { args: ["buffer", "u32"], returns: "i32" },
    fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
    syscall: { args: ["i64", "u64", "u64", "u32"], returns: "i64" },
  });
  return libc;
}

let loaded: ReturnType<typeof loadCalls> | undefined;

function calls() {
  if (loaded === undefined) loaded = loadCalls();
  return loaded;
}

/** A descriptor, which must be closed. Throws a system error where this system has no such files, or no FFI. */
export function openMemoryFile(bytes: Uint8Array): number {
  const libc = calls();
  if (libc === null) throw refusal("ENOSYS");
  const name = cString("pai");
  const base = flags.closeOnExec | flags.allowSealing;
  let fd = libc.functions.memfd_create(name, base | flags.executable);
  // Kernels before 6.3 do not know the last flag.
  if (fd < 0) fd = libc.functions.memfd_create(name, base);
  if (fd < 0) throw refusal(nameOf(libc.errno()));
  try {
    // A program that copies it reads from the descriptor's position: the start.
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, done);
    if (libc.functions.fcntl(fd, addSeals, allSeals) !== 0) throw refusal(nameOf(libc.errno()));
    return fd;
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

/** A system error that says at which step it was. */
const refusal = (code: string) => Object.assign(new Error(`${code}: memfd_create`), { code, step: "memfd_create" });

function nameOf(errno: number): string {
  try {
    return getSystemErrorName(-errno);
  } catch {
    return `error ${errno}`;
  }
}

export interface Landlock {
  /** 0: none. */
  readonly version: number;
  /** Name of the error with which the kernel, or a filter of system calls, answered; null: it did not. */
  readonly errno: string | null;
}

/** What this kernel offers of Landlock. */
export function findLandlock(): Landlock {
  const libc = calls();
  if (libc === null) return { version: 0, errno: "ENOSYS" };
  const version = Number(libc.functions.syscall(landlockCreateRuleset, 0, 0, landlockVersion));
  return version > 0 ? { version, errno: null } : { version: 0, errno: nameOf(libc.errno()) };
}

/** Whether many descriptors can be closed in one call: Linux 5.9, and no filter against it. */
export const closesRanges = (): boolean =>
  Number(calls()?.functions.syscall(closeRange, noDescriptor, noDescriptor, 0) ?? 0) === 0;
