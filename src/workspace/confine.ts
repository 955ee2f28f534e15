/** The only way to a file of the user: a pinned root, walked folder by folder without following a link. */

import type { BigIntStats } from "node:fs";
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { PaiError, toPaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import type { Workspace } from "../core/ports.ts";
import { joinPath, showName } from "./parse.ts";
import { judgeRoot } from "./policy.ts";

export interface Stat {
  readonly kind: "file" | "folder" | "link" | "special";
  readonly size: number;
  /** Permission bits, 07777. */
  readonly mode: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
  readonly dev: bigint;
  readonly uid: number;
  readonly gid: number;
  readonly nlink: number;
  /** Where a link points, as written in it. */
  readonly target: string | null;
}

/**
 * Every method throws path_refused, naming the link and its target, when a folder on the way is a link,
 * file_unusable when it is a file, and a 14-code when the system refuses.
 */
export interface Root {
  /** Real path, for display only: it must never be opened. */
  readonly path: string;
  readonly backend: Workspace["protection"];
  /** What stands there, links not followed; null: nothing. */
  stat(path: RelPath): Stat | null;
  /**
   * Calls `use` with a folder `at` such that `${at}/${name}` is the object; null when a parent is missing.
   * `at` is good only until `use` returns, so `use` must be synchronous, and must itself not follow `name` if it is a link.
   */
  withParent<T>(path: RelPath, use: (at: string, name: string) => T): T | null;
  /** The same for a folder itself ("" = root); null when it is missing. */
  withFolder<T>(path: RelPath, use: (at: string) => T): T | null;
  /** A whole regular file of at most `limit` bytes; null: nothing there. Throws file_unusable for anything else. */
  readBytes(path: RelPath, limit: number): { readonly bytes: Uint8Array; readonly stat: Stat } | null;
  close(): void;
}

const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;
const enter = O_PATH | O_CLOEXEC | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const look = constants.O_RDONLY | O_CLOEXEC | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Opens and pins the root: a link to it is resolved once, and a rename does not change what is meant.
 * Throws root_refused for what is no folder and, unless `force`, for `/`, the home and system folders.
 */
export function openRoot(path: string, options: { readonly force: boolean; readonly home: string | null }): Root {
  const fd = openRootFolder(path);
  const at = `/proc/self/fd/${fd}`;
  const real = readlinkSync(at);
  const why = options.force ? null : judgeRoot(real, options.home === null ? null : realpathOf(options.home));
  if (why !== null) {
    closeSync(fd);
    throw new PaiError("root_refused", `${showName(real)} ${why}`, {
      hint: "Start in the folder of a project, or pass --force-root",
    });
  }

  const withFolder = <T>(folder: RelPath, use: (at: string) => T): T | null =>
    folder === "" ? use(at) : walkTo(fd, folder, use);

  const withParent = <T>(target: RelPath, use: (at: string, name: string) => T): T | null => {
    if (target === "") throw new PaiError("path_refused", "That is the root itself");
    const cut = target.lastIndexOf("/");
    return withFolder(target.slice(0, Math.max(0, cut)) as RelPath, (folder) => use(folder, target.slice(cut + 1)));
  };

  return {
    path: real,
    backend: "fd-walk",
    stat: (target) =>
      target === ""
        ? toStat(fstatSync(fd, { bigint: true }), at)
        : withParent(target, (folder, name) => statAt(folder, name, target)),
    withParent,
    withFolder,
    readBytes: (target, limit) => withParent(target, (folder, name) => readAt(folder, name, target, limit)),
    close: () => closeSync(fd),
  };
}

/** What `${at}/${name}` is, links not followed; null: nothing. `path` is what the messages call it. */
export function statAt(at: string, name: string, path: RelPath): Stat | null {
  try {
    const stats = lstatSync(`${at}/${name}`, { bigint: true, throwIfNoEntry: false });
    return stats ? toStat(stats, `${at}/${name}`) : null;
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw systemError(thrown, path);
  }
}

/** Opens a folder for entering; must be closed. null: missing. `path` is what the messages call it. */
export function openFolderAt(at: string, name: string, path: RelPath): number | null {
  try {
    return openSync(`${at}/${name}`, enter);
  } catch (thrown) {
    const stat = statUnlessGone(at, name, path);
    if (stat?.kind === "link") throw linkRefused(path, stat.target);
    if (stat !== null && stat.kind !== "folder") {
      throw new PaiError("file_unusable", `${showName(path)} is no folder`);
    }
    if (stat === null && isMissing(thrown)) return null;
    throw systemError(thrown, path);
  }
}

/** Opens a regular file for reading; must be closed. null: missing. Throws path_refused for links, file_unusable for the rest. */
export function openFileAt(
  at: string,
  name: string,
  path: RelPath,
): { readonly fd: number; readonly stat: Stat } | null {
  const before = statAt(at, name, path);
  if (before === null) return null;
  refuseUnlessFile(before, path);
  let fd: number;
  try {
    fd = openSync(`${at}/${name}`, look);
  } catch (thrown) {
    const now = statUnlessGone(at, name, path);
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

function openRootFolder(path: string): number {
  try {
    return openSync(path, O_PATH | O_CLOEXEC | constants.O_DIRECTORY);
  } catch (thrown) {
    const missing = isMissing(thrown) && lstatSync(path, { throwIfNoEntry: false }) === undefined;
    throw new PaiError(
      "root_refused",
      `${showName(path)} ${missing ? "does not exist" : "is no folder that can be opened"}`,
      {
        hint: "Start in the folder of a project",
        cause: thrown,
      },
    );
  }
}

function realpathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function walkTo<T>(root: number, path: RelPath, use: (at: string) => T): T | null {
  let fd = root;
  let done = "" as RelPath;
  try {
    for (const part of path.split("/")) {
      done = joinPath(done, part);
      const next = openFolderAt(`/proc/self/fd/${fd}`, part, done);
      if (fd !== root) closeSync(fd);
      fd = root;
      if (next === null) return null;
      fd = next;
    }
    return use(`/proc/self/fd/${fd}`);
  } finally {
    if (fd !== root) closeSync(fd);
  }
}

function readAt(at: string, name: string, path: RelPath, limit: number): { bytes: Uint8Array; stat: Stat } | null {
  const open = openFileAt(at, name, path);
  if (open === null) return null;
  try {
    if (open.stat.size > limit) throw tooLarge(path, limit);
    return { bytes: readWhole(open.fd, open.stat.size, limit, path), stat: open.stat };
  } finally {
    closeSync(open.fd);
  }
}

/** A file may grow while it is read: what is there at the end counts, up to the limit. */
function readWhole(fd: number, size: number, limit: number, path: RelPath): Uint8Array {
  let bytes = new Uint8Array(size + 1);
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

function toStat(stats: BigIntStats, at: string | null): Stat {
  const link = stats.isSymbolicLink();
  return {
    kind: stats.isFile() ? "file" : stats.isDirectory() ? "folder" : link ? "link" : "special",
    size: Number(stats.size),
    mode: Number(stats.mode & 0o7777n),
    mtimeNs: stats.mtimeNs,
    ctimeNs: stats.ctimeNs,
    ino: stats.ino,
    dev: stats.dev,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    nlink: Number(stats.nlink),
    target: link && at !== null ? readlinkSync(at) : null,
  };
}

function statUnlessGone(at: string, name: string, path: RelPath): Stat | null {
  try {
    return statAt(at, name, path);
  } catch {
    return null;
  }
}

function refuseUnlessFile(stat: Stat, path: RelPath): void {
  if (stat.kind === "link") throw linkRefused(path, stat.target);
  if (stat.kind === "folder") throw new PaiError("file_unusable", `${showName(path)} is a folder`);
  if (stat.kind === "special") {
    throw new PaiError("file_unusable", `${showName(path)} is no regular file but a pipe, socket or device`);
  }
}

function linkRefused(path: RelPath, target: string | null): PaiError {
  const points = target === null ? "" : ` to ${showName(target)}`;
  return new PaiError("path_refused", `${showName(path)} is a link${points}; links are not followed`, {
    hint: "Name the real path, if it is below the root",
  });
}

function tooLarge(path: RelPath, limit: number): PaiError {
  return new PaiError("file_unusable", `${showName(path)} is larger than ${Math.floor(limit / 1024)} KiB`, {
    hint: "Read a range of its lines",
  });
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown as NodeJS.ErrnoException).code === "ENOENT";
}

/** The same error, naming the path instead of a descriptor. */
function systemError(thrown: unknown, path: RelPath): PaiError {
  const { code } = toPaiError(thrown);
  const errno = thrown instanceof Error ? (thrown as NodeJS.ErrnoException).code : undefined;
  return new PaiError(code, `${showName(path)} cannot be opened (${errno ?? "unknown error"})`, { cause: thrown });
}
