/** A program file in memory that nobody can change any more: no path, no disk, nothing left behind. */
import { closeSync, writeSync } from "node:fs";
import { cString, openLibc } from "../system/libc.ts";

const flags = { closeOnExec: 1, allowSealing: 2, executable: 0x10 } as const;
const addSeals = 1033;
/** No further seals, no shrinking, growing or writing. */
const allSeals = 0xf;
const landlockVersion = 1;
const landlockCreateRuleset = 444;

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

/** A descriptor, which must be closed; null: this system has no such files, or no FFI. */
export function openMemoryFile(bytes: Uint8Array): number | null {
  const libc = calls();
  if (libc === null) return null;
  const name = cString("pai");
  const base = flags.closeOnExec | flags.allowSealing;
  let fd = libc.functions.memfd_create(name, base | flags.executable);
  // Kernels before 6.3 do not know the last flag.
  if (fd < 0) fd = libc.functions.memfd_create(name, base);
  if (fd < 0) return null;
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    if (libc.functions.fcntl(fd, addSeals, allSeals) === 0) return fd;
  } catch {
    // Memory is full.
  }
  closeSync(fd);
  return null;
}

/** The version of Landlock that this kernel offers; 0: none. */
export function findLandlock(): number {
  const answer = calls()?.functions.syscall(landlockCreateRuleset, 0, 0, landlockVersion) ?? -1;
  return Math.max(0, Number(answer));
}
