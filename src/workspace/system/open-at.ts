/** Opens one name in an open folder, never through a link; a refusal says what the name is instead. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { orNull, PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import { showName } from "../parse-path.ts";
import { isMissing, refuseLink, refuseUnlessFile, type Stat, statAt, systemError, toStat } from "./stat.ts";

const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;
/** Opens a folder for entering it, not for listing it. */
export const enterFlags = O_PATH | O_CLOEXEC | constants.O_DIRECTORY | constants.O_NOFOLLOW;
export const lookFlags =
  constants.O_RDONLY | O_CLOEXEC | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

const mebibyte = 1024 * 1024;

export interface OpenFile {
  readonly fd: number;
  readonly stat: Stat;
}

/** The caller must close it. null: missing. `path`: its name in messages. */
export function openFolderAt(at: string, name: string, path: RelPath): number | null {
  try {
    return openSync(`${at}/${name}`, enterFlags);
  } catch (thrown) {
    const stat = orNull(() => statAt(at, name, path));
    if (stat?.kind === "link") throw refuseLink(path, stat.target);
    if (stat !== null && stat.kind !== "folder")
      throw new PaiError("file_unusable", `${showName(path)} is not a folder`);
    if (stat === null && isMissing(thrown)) return null;
    throw systemError(thrown, path);
  }
}

/** The caller must close it. null: missing. Throws path_refused for a link, file_unusable for anything else. */
export function openFileAt(at: string, name: string, path: RelPath): OpenFile | null {
  const before = statAt(at, name, path);
  if (before === null) return null;
  refuseUnlessFile(before, path);
  return openFoundAt(at, name, path);
}

/** Like `openFileAt` for what was just seen to be a regular file: opening a device can set it to work. */
export function openFoundAt(at: string, name: string, path: RelPath): OpenFile | null {
  let fd: number;
  try {
    fd = openSync(`${at}/${name}`, lookFlags);
  } catch (thrown) {
    const now = orNull(() => statAt(at, name, path));
    if (now === null) return null;
    refuseUnlessFile(now, path);
    throw systemError(thrown, path);
  }
  try {
    const stat = toStat(fstatSync(fd, { bigint: true }), null);
    refuseUnlessFile(stat, path);
    return { fd, stat };
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

/** Reads to the current end, since the file may grow meanwhile. Throws file_unusable beyond the limit. */
export function readWholeAt({ fd, stat }: OpenFile, limit: number, path: RelPath): Uint8Array {
  if (stat.size > limit) throw tooLarge(path, limit);
  let bytes = new Uint8Array(stat.size + 1);
  let length = 0;
  for (;;) {
    const count = readSync(fd, bytes, length, bytes.length - length, null);
    length += count;
    if (length > limit) throw tooLarge(path, limit);
    if (count === 0) return bytes.subarray(0, length);
    if (length === bytes.length) {
      const wider = new Uint8Array(Math.min(length * 2, limit + 1));
      wider.set(bytes);
      bytes = wider;
    }
  }
}

function tooLarge(path: RelPath, limit: number): PaiError {
  const size = limit < mebibyte ? `${Math.floor(limit / 1024)} KiB` : `${Math.floor(limit / mebibyte)} MiB`;
  const hint = "read a range of its lines";
  return new PaiError("file_unusable", `${showName(path)} is larger than ${size}`, { hint });
}
