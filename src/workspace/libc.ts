/** The C library this process already runs on, for the few system calls that Bun has no word for. */
import { dlopen, type FFIFunction, read } from "bun:ffi";
import { readFileSync } from "node:fs";

const mapped = /\s(\/\S*\/(?:libc\.so\.6|libc-2[\d.]*\.so|(?:libc|ld)[.-]musl-[\w-]+\.so\.1))$/m;

/**
 * The functions of libc with these shapes, and the errno of the last call that failed; null where there is no FFI.
 * Only the file that is already mapped is opened, by its absolute path: a bare name would be looked up in the
 * current folder too. Typed arrays are passed as they are, so that they cannot move meanwhile.
 */
export function openLibc<Shapes extends Record<string, FFIFunction>>(shapes: Shapes) {
  try {
    const path = mapped.exec(readFileSync("/proc/self/maps", "latin1"))?.[1];
    if (path === undefined) return null;
    const { symbols } = dlopen(path, shapes);
    const where = dlopen(path, { __errno_location: { args: [], returns: "ptr" } }).symbols.__errno_location;
    const errno = (): number => {
      const at = where();
      return at === null ? 0 : read.i32(at, 0);
    };
    return { functions: symbols, errno };
  } catch {
    return null;
  }
}

/** A path or name as C reads it. */
export function cString(text: string): Uint8Array {
  return Buffer.from(`${text}\0`);
}
