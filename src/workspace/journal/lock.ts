/** Lets one process at a time commit, undo or recover: a lock file, whose dead holder is detected. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { diskCodes, PaiError, toPaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import { type Holder, isAlive, parseHolder, sameHolder } from "../../system/holder.ts";
import type { Root } from "../confine.ts";
import type { Disk } from "../system/disk.ts";
import { systemCalls } from "../system/system-calls.ts";

/** `must`: the work is a rollback, so it runs even while another process holds the project's kernel lock. */
export type Lock = <T>(work: () => T | Promise<T>, options?: { readonly must: boolean }) => Promise<T>;

interface Claim {
  readonly token: string;
  /** null: unreadable, so no living process holds it. */
  readonly holder: Holder | null;
}

/**
 * A lock file at `path`, whose folder must exist. `work` may pause for signals, but must wait for nothing else. Throws
 * conflict when another process holds it for longer than `patienceMs`, permission_denied when the path is not a plain
 * file of this user.
 */
export function openLock(path: string, disk: Disk, self: Holder, patienceMs = 10_000): Lock {
  return async (work) => {
    const until = performance.now() + patienceMs;
    let pause = 2;
    while (isHeld(path, self) || !claim(path, disk, self)) {
      if (performance.now() > until) throw heldTooLong(path);
      await Bun.sleep(pause);
      pause = Math.min(pause * 2, 50);
    }
    try {
      return await work();
    } finally {
      release(path, disk);
    }
  };
}

/**
 * Adds the kernel's lock on the descriptor that `open` returns to another lock: it ends with the process in any case.
 * Where the kernel has none, only the other lock counts. Throws conflict like `openLock`.
 */
export function lockKernel(open: () => number | null, inner: Lock, patienceMs = 10_000): Lock {
  return async (work, { must } = { must: false }) => {
    const folder = open();
    try {
      const until = performance.now() + patienceMs;
      let held = folder === null || tryLock(folder);
      while (!held && performance.now() <= until) {
        await Bun.sleep(2);
        held = folder === null || tryLock(folder);
      }
      if (!held && !must) throw anotherAtWork("", "wait for it to end");
      return await enter(inner, work, held && folder !== null && systemCalls() !== null);
    } finally {
      if (folder !== null) closeSync(folder);
    }
  };
}

/** Runs the work under the inner lock. If the disk refuses that lock, holding the kernel's lock is enough. */
async function enter<T>(inner: Lock, work: () => T | Promise<T>, isHeld: boolean): Promise<T> {
  let begun = false;
  try {
    return await inner(() => {
      begun = true;
      return work();
    });
  } catch (thrown) {
    if (begun || !isHeld || !diskCodes.includes(toPaiError(thrown).code)) throw thrown;
    return work();
  }
}

/** Opens the root for locking, if nothing is kept: whoever may read it may lock it. */
export function openRootLock(root: Root): number | null {
  try {
    return root.withFolder("" as RelPath, (at) => openSync(`${at}/`, constants.O_RDONLY | constants.O_DIRECTORY));
  } catch {
    return null;
  }
}

/** Opens the user's lock file, which nobody else can open. */
export function openLockFile(path: string): number | null {
  // An existing file can be opened for reading on a disk that is full or read-only, and then locked.
  for (const how of [constants.O_RDWR | constants.O_CREAT, constants.O_RDONLY]) {
    try {
      return openSync(path, how | constants.O_NOFOLLOW, 0o600);
    } catch {}
  }
  // Only the other lock counts then.
  return null;
}

/** Whether the kernel gave the lock; also true where it cannot lock folders. */
function tryLock(fd: number): boolean {
  try {
    return systemCalls()?.tryLock(fd) ?? true;
  } catch {
    return true;
  }
}

/**
 * Never throws. A claim that cannot be removed is harmless: this process ignores its own, others those of a dead
 * process.
 */
function release(path: string, disk: Disk): void {
  try {
    disk.removeFile(path);
  } catch {
    // The work is done, so this must not be reported as its failure.
  }
}

/**
 * A claim is written under another name and then renamed, so it is never seen half-written. A dead claim is removed
 * under a separate lock named after its token, so a late process with an old token cannot remove a newer claim.
 */
function claim(path: string, disk: Disk, self: Holder): boolean {
  const aside = `${path}.${crypto.randomUUID()}`;
  disk.createClaim(aside, Buffer.from(JSON.stringify({ token: crypto.randomUUID(), ...self })));
  try {
    for (;;) {
      if (tryAddName(path, aside, disk)) return true;
      const dead = readClaim(path);
      if (dead === null) continue;
      if (isHeldByOther(dead, self)) return false;
      const guard = `${path}-${dead.token}`;
      if (!claim(guard, disk, self)) return false;
      try {
        if (readClaim(path)?.token === dead.token) disk.removeFile(path);
      } finally {
        disk.removeFile(guard);
      }
    }
  } finally {
    disk.removeFile(aside);
  }
}

/** Whether another living process holds the lock. Writes nothing. */
function isHeld(path: string, self: Holder): boolean {
  const found = readClaim(path);
  return found !== null && isHeldByOther(found, self);
}

/** A claim of this process does not count: work under the lock never waits, so a claim found here is a leftover. */
function isHeldByOther({ holder }: Claim, self: Holder): boolean {
  return holder !== null && !sameHolder(holder, self) && isAlive(holder);
}

function tryAddName(path: string, from: string, disk: Disk): boolean {
  try {
    disk.addName(path, from);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw thrown;
  }
}

/** The current claim; null: it has been released. */
function readClaim(path: string): Claim | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw oddLock(path, thrown);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.uid !== process.geteuid?.() || stat.size > 4096) throw oddLock(path, null);
    return parseClaim(readFileSync(fd, "utf8"));
  } finally {
    closeSync(fd);
  }
}

function parseClaim(text: string): Claim {
  try {
    const value: unknown = JSON.parse(text);
    const token = (value as { token?: unknown } | null)?.token;
    if (typeof token === "string" && /^[\w-]{1,64}$/.test(token)) return { token, holder: parseHolder(value) };
  } catch {
    // Not JSON: the claim has no holder.
  }
  return { token: Bun.hash(text).toString(36), holder: null };
}

function oddLock(path: string, cause: unknown): PaiError {
  return new PaiError("permission_denied", `the lock ${path} is not a plain file of yours`, {
    hint: "look at it, then remove it",
    cause,
  });
}

function heldTooLong(path: string): PaiError {
  const pid = readClaim(path)?.holder?.pid;
  return anotherAtWork(pid ? ` (process ${pid})` : "", `wait for it to end; if there is none, remove ${path}`);
}

function anotherAtWork(which: string, hint: string): PaiError {
  return new PaiError("conflict", `another pai is at work in this workspace${which}`, { hint });
}
