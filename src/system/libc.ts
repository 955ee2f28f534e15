/** Calls functions of libc, for the few system calls that Bun does not offer. */
import { dlopen, type FFIFunction, read } from "bun:ffi";
import { readFileSync } from "node:fs";
import { constants as system } from "node:os";
import { getSystemErrorName } from "node:util";
import { orNull } from "../core/error.ts";

const libcLine = /^[^/\n]* r-xp [^/\n]*(\/(?:.*\/)?(?:libc\.so\.6|libc-[\d.]+\.so|ld-musl-\w+\.so\.1))$/m;

/**
 * Path of the libc that this process uses, from its memory map: a search by name would include the folder in which pai
 * was started. Throws when there is none.
 */
export function findLibc(maps: string): string {
  const [, found] = libcLine.exec(maps) ?? [];
  if (found === undefined) throw new Error("no libc in the map of this process");
  return found;
}

const errnoShape = { __errno_location: { args: [], returns: "ptr" } } as const;
let opened: { readonly path: string; readonly errno: () => number } | null = null;

function openFirst() {
  const path = findLibc(readFileSync("/proc/self/maps", "latin1"));
  const where = dlopen(path, errnoShape).symbols.__errno_location;
  const errno = (): number => {
    const at = where();
    return at === null ? system.errno.EIO : read.i32(at, 0);
  };
  return { path, errno };
}

function load<Shapes extends Record<string, FFIFunction>>(shapes: Shapes) {
  try {
    opened ??= openFirst();
    const { path, errno } = opened;
    return { functions: dlopen(path, shapes).symbols, errno };
  } catch {
    return null;
  }
}

const loaded = new WeakMap<object, unknown>();

/**
 * Functions of libc with these signatures, and a reader of errno; null where there is no FFI. `shapes` are loaded once. Typed
 * arrays are passed as arguments, so that they cannot move during the call.
 */
export function openLibc<Shapes extends Record<string, FFIFunction>>(shapes: Shapes) {
  if (!loaded.has(shapes)) loaded.set(shapes, load(shapes));
  return loaded.get(shapes) as ReturnType<typeof load<Shapes>>;
}

export const errnoName = (number: number): string => orNull(() => getSystemErrorName(-number)) ?? `error ${number}`;

export const cString = (text: string): Uint8Array => Buffer.from(`${text}\0`);
