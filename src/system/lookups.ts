/** Looks at files and folders without throwing: what is missing or refused is empty or null. */
import {
  accessSync,
  closeSync,
  constants,
  type Dirent,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { orNull } from "../core/error.ts";

export function entriesOf(folder: string): readonly Dirent[] {
  return orNull(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}

/**
 * What is in a folder and those below it, upper ones first, with the folder's path from `top`; "": that itself. After
 * `most` entries no further folder is looked into.
 */
export function* entriesBelow(
  top: string,
  enters: (folder: string, entry: Dirent) => boolean,
  most: number,
): Generator<readonly [folder: string, entry: Dirent], void> {
  const waiting = [""];
  let left = most;
  for (let folder = waiting.shift(); folder !== undefined && left > 0; folder = waiting.shift()) {
    for (const entry of entriesOf(join(top, folder))) {
      left -= 1;
      yield [folder, entry];
      if (entry.isDirectory() && enters(folder, entry)) waiting.push(join(folder, entry.name));
    }
  }
}

export function namesOf(folder: string): readonly string[] {
  return orNull(() => readdirSync(folder)) ?? [];
}

/** The text of a file; for files of the kernel, which hide their length. */
export function textOfSystem(path: string): string {
  return orNull(() => readFileSync(path, "utf8")) ?? "";
}

export function realPathOf(path: string): string | null {
  return orNull(() => realpathSync(path));
}

export function mayUse(path: string, rights: number): boolean {
  try {
    accessSync(path, rights);
    return true;
  } catch {
    return false;
  }
}

/** The path itself if it is there, else the nearest folder above that is. */
export function nearestThere(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestThere(dirname(path));
}

/**
 * Text of a small file that others may have put there; null: it is missing, larger than `limit` bytes, a link, a pipe or a
 * device, or the system refuses. Never blocks. A file of length 0, as in `/proc`, reads as empty.
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

/** The absolute folders of a PATH outside the project, for git, an editor and the like: a program in it is not the user's. */
export const pathOutside = (path: string | undefined, root: string): string =>
  (path ?? "/usr/local/bin:/usr/bin:/bin")
    .split(":")
    .filter((folder) => folder.startsWith("/") && folder !== root && !folder.startsWith(`${root}/`))
    .join(":");
