/** Reads a small regular file that others may have put there: never follows a link, never blocks, limits the size. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/**
 * Text of the file; null: it is missing, larger than `limit` bytes, a link, a pipe or a device, or the system refuses.
 * A file of length 0, as in `/proc`, reads as empty.
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
