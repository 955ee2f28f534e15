/** Looks at files and folders: for all but `entryAt` what is missing or refused is empty or null. */
import {
  accessSync,
  closeSync,
  constants,
  type Dirent,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { dirname, join } from "node:path";
import { orNull, unless } from "../core/error.ts";

/**
 * Stats of the entry; a link is not followed. undefined: it does not exist, or a parent is a file or a device, as below a
 * home of `/dev/null`. Throws the system's other errors: an entry may exist whose path is too long for one call.
 */
export const entryAt = (path: string): Stats | undefined =>
  // Without an error for a missing entry: one is slow to make.
  unless(["ENOTDIR"], () => lstatSync(path, { throwIfNoEntry: false }));

export const entriesOf = (folder: string): readonly Dirent[] =>
  orNull(() => readdirSync(folder, { withFileTypes: true })) ?? [];

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

export const namesOf = (folder: string): readonly string[] => orNull(() => readdirSync(folder)) ?? [];

/** The text of a file; for files of the kernel, which hide their length. */
export const textOfSystem = (path: string): string => orNull(() => readFileSync(path, "utf8")) ?? "";

export const realPathOf = (path: string): string | null => orNull(() => realpathSync(path));

export function mayUse(path: string, rights: number): boolean {
  try {
    accessSync(path, rights);
    return true;
  } catch {
    return false;
  }
}

/** The path itself if it is there, else the nearest folder above that is. */
export const nearestThere = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : nearestThere(dirname(path));

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
