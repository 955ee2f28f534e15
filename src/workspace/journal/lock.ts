/** Lets one process at a time commit, undo or recover in a workspace. */
import { constants, openSync } from "node:fs";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import { claimOf, type Held, lockOpened, type TakeLock } from "../../system/lock.ts";
import type { Root } from "../confine.ts";

/** `must`: the work is a rollback, so it runs even while another process holds the lock. */
export type Lock = <T>(work: () => T | Promise<T>, options?: { readonly must: boolean }) => Promise<T>;

/**
 * Waits for the lock that `take` takes. `work` may pause for signals, but must wait for nothing else. Throws conflict
 * when another process holds it for longer than `patienceMs`, and what `take` throws.
 */
function openLock(take: () => Held | null, hint: () => string, patienceMs: number): Lock {
  return async (work, { must } = { must: false }) => {
    const until = performance.now() + patienceMs;
    let pause = 2;
    let held = tryTake(take, must);
    while (held === null && performance.now() <= until) {
      await Bun.sleep(pause);
      pause = Math.min(pause * 2, 50);
      held = tryTake(take, must);
    }
    if (held === null && !must) {
      throw new PaiError("conflict", "another pai is at work in this workspace", { hint: hint() });
    }
    try {
      return await work();
    } finally {
      held?.release();
    }
  };
}

/** The lock of a file at `path`, whose folder must exist. */
export const openFileLock = (path: string, take: TakeLock, patienceMs = 10_000): Lock => {
  const hint = () => {
    const claim = claimOf(path);
    return claim === null ? "wait for it to end" : `wait for it to end; if there is none, remove ${claim}`;
  };
  return openLock(() => take(path), hint, patienceMs);
};

/** The lock of the root folder itself, if nothing is kept: whoever may read it may lock it. */
export const openRootLock = (root: Root, patienceMs = 10_000): Lock =>
  openLock(
    () => {
      const fd = openFolder(root);
      return fd === null ? unlocked : lockOpened(fd);
    },
    () => "wait for it to end",
    patienceMs,
  );

const unlocked: Held = { release() {} };

function openFolder(root: Root): number | null {
  try {
    return root.withFolder("" as RelPath, (at) => openSync(`${at}/`, constants.O_RDONLY | constants.O_DIRECTORY));
  } catch {
    return null;
  }
}

/** A rollback does not fail because a lock cannot be taken. */
function tryTake(take: () => Held | null, must: boolean): Held | null {
  try {
    return take();
  } catch (thrown) {
    if (must) return null;
    throw thrown;
  }
}
