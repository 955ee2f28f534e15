/** The C library this process already runs on, for the few system calls that Bun does not offer. */
import { dlopen, type FFIFunction, read } from "bun:ffi";
import { readFileSync } from "node:fs";
import { errno as numbers } from "./errno.ts";

/** A mapping that is run, and the path of its file: that of a libc. */
const libcLine = /^[^/\n]* r-xp [^/\n]*(\/(?:.*\/)?(?:libc\.so\.6|libc-[\d.]+\.so|ld-musl-\w+\.so\.1))$/m;

/**
 * The libc this process runs with, from its own map: a search by name would end in the folder pai was started in.
 * Throws when there is none.
 */
export function findLibc(maps: string): string {
  const [, found] = libcLine.exec(maps) ?? [];
  if (found === undefined) throw new Error("no libc in the map of this process");
  return found;
}

const errnoShape = { __errno_location: { args: [], returns: "ptr" } } as const;
let opened: { readonly path: string; readonly errno: () => number } | null = null;

/** Where libc is, and the errno of the last call that failed. */
function openFirst() {
  const path = findLibc(readFileSync("/proc/self/maps", "latin1"));
  const where = dlopen(path, errnoShape).symbols.__errno_location;
  const errno = (): number => {
    const at = where();
    return at === null ? numbers.EIO : read.i32(at, 0);
  };
  return { path, errno };
}

/**
 * The functions of libc with these shapes, and the errno of the last call that failed; null where there is no FFI.
 * Typed arrays are passed as they are, so that they cannot move meanwhile.
 */
export function openLibc<Shapes extends Record<string, FFIFunction>>(shapes: Shapes) {
  try {
    opened ??= openFirst();
    const { path, errno } = opened;
    return { functions: dlopen(path, shapes).symbols, errno };
  } catch {
    return null;
  }
}

/** A path or name as C reads it. */
export function cString(text: string): Uint8Array {
  return Buffer.from(`${text}\0`);
}
