/** Reads a small regular file that others may have put there: never a link, never waiting, never more than it says it holds. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/**
 * Its text; null: there is no such file, it is larger than `limit` bytes, a link, a pipe or a device, or the system
 * refuses. A file that hides its length (`/proc`) is empty.
 */
export function readSmall(path: string, limit: number): string | null {
  let fd: number | null = null;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY);
    const { size } = fstatSync(fd);
    if (!fstatSync(fd).isFile() || size > limit) return null;
    const bytes = Buffer.alloc(size);
    let read = 0;
    for (let more = 1; more > 0 && read < size; read += more) more = readSync(fd, bytes, read, size - read, null);
    return bytes.toString("utf8", 0, read);
  } catch {
    return null;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
