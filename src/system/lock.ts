/** Locks of files and folders by the kernel (flock): they end with the process that holds them, in whatever container. */
import { closeSync, constants, fstatSync, lstatSync, openSync, unlinkSync } from "node:fs";
import { constants as system } from "node:os";
import { orNull, PaiError, unless } from "../core/error.ts";
import { openLibc } from "./libc.ts";

export interface Held {
  /** Never throws. */
  release(): void;
}

/** Takes the lock of the file at a path, whose folder must exist; null: somebody holds it. */
export type TakeLock = (path: string) => Held | null;

const shapes = { flock: { args: ["i32", "i32"], returns: "i32" } } as const;
const exclusiveNow = 2 | 4;
const unlock = 8;

/**
 * The file is made if needed and stays, unless the holder removes it before it releases the lock. Where the file system
 * has no locks, a claim beside the file takes its place. Throws permission_denied when the path is not a plain file of
 * this user, and system errors.
 */
export const takeLock: TakeLock = (path) => {
  for (;;) {
    const fd = openLockFile(path);
    const answer = lockDescriptor(fd);
    // A holder may have removed the file between the two calls: then this lock is of a file that nobody finds.
    if (answer === "taken" && isAt(path, fd)) return { release: () => releaseDescriptor(fd) };
    closeSync(fd);
    if (answer === "held") return null;
    if (answer === "unknown") return takeClaim(`${path}.claim`);
  }
};

/** Takes the lock of an open folder or file. Where the kernel has none it counts as taken. `fd` is closed in the end. */
export function lockOpened(fd: number): Held | null {
  if (lockDescriptor(fd) !== "held") return { release: () => releaseDescriptor(fd) };
  closeSync(fd);
  return null;
}

/** What to do while somebody holds the lock of a path; without the kernel one that was killed leaves a claim. */
export function hintOfHeld(path: string): string {
  const isClaimed = lstatSync(`${path}.claim`, { throwIfNoEntry: false }) !== undefined;
  return isClaimed ? `wait for it to end; if there is none, remove ${path}.claim` : "wait for it to end";
}

/** `unknown`: the kernel or the file system has no such locks. */
function lockDescriptor(fd: number): "taken" | "held" | "unknown" {
  const libc = openLibc(shapes);
  if (libc === null) return "unknown";
  if (libc.functions.flock(fd, exclusiveNow) === 0) return "taken";
  return libc.errno() === system.errno.EAGAIN ? "held" : "unknown";
}

/** A child that is just starting holds a copy of the descriptor, so closing this one may not be enough. */
function releaseDescriptor(fd: number): void {
  openLibc(shapes)?.functions.flock(fd, unlock);
  closeSync(fd);
}

function openLockFile(path: string): number {
  const fd = openExisting(path) ?? openSync(path, constants.O_RDWR | constants.O_CREAT | safely, 0o600);
  const stat = fstatSync(fd);
  if (stat.isFile() && stat.uid === process.geteuid?.()) return fd;
  closeSync(fd);
  throw notAFile(path, null);
}

const safely = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** An existing file can be opened for reading on a disk that is full or read-only, and then locked. null: none. */
function openExisting(path: string): number | null {
  for (const how of [constants.O_RDWR, constants.O_RDONLY]) {
    try {
      return openSync(path, how | safely);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      if (code === "ENOENT") return null;
      if (how === constants.O_RDONLY || code === "ELOOP") throw notAFile(path, thrown);
    }
  }
  return null;
}

function isAt(path: string, fd: number): boolean {
  const opened = fstatSync(fd);
  const now = lstatSync(path, { throwIfNoEntry: false });
  return now !== undefined && now.ino === opened.ino && now.dev === opened.dev;
}

const notAFile = (path: string, cause: unknown): PaiError =>
  new PaiError("permission_denied", `the lock ${path} is not a plain file of yours`, {
    hint: "look at it, then remove it",
    cause,
  });

/** Holds a lock by the existence of a file. One that a killed process left is removed by hand: `hintOfHeld`. */
export function takeClaim(at: string): Held | null {
  const fresh = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const fd = unless(["EEXIST"], () => openSync(at, fresh, 0o600));
  if (fd === undefined) return null;
  closeSync(fd);
  // Gone already, or the disk refuses: the work under the lock is done all the same.
  return { release: () => void orNull(() => unlinkSync(at)) };
}
