/** Opens the state folder of a workspace, if it can be trusted, and its lock, which one process at a time has. */

import { constants, openSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { digest } from "../../core/digest.ts";
import { orNull, PaiError, toPaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import { distrustParts } from "../../system/judge-folder.ts";
import { type Held, hintOfHeld, lockOpened, type TakeLock, takeLock } from "../../system/lock.ts";
import { mayUse, nearestThere } from "../../system/lookups.ts";
import { temporaryName } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import { openDisk } from "../system/disk.ts";
import { prepareState, type State } from "./journal.ts";

/** `why`: nothing is kept although it should be. */
export function openState(
  root: Root,
  stateDir: string | null,
): { readonly state: State | null; readonly why: string | null } {
  if (stateDir === null) return { state: null, why: null };
  const why = whyNotKept(root.path, stateDir);
  if (why !== null) return { state: null, why };
  return { state: { folder: stateFolderOf(root.path, stateDir), disk: openDisk(), takeLock }, why: null };
}

/** null: it can be kept there. `root`: real path. */
export function whyNotKept(root: string, stateDir: string): string | null {
  if (!mayUse(nearestThere(stateDir), constants.W_OK | constants.X_OK)) return `${stateDir} cannot be written`;
  // Journal, receipts and sessions are neither trusted nor sent on if other users could have written them.
  const why = distrustParts(stateFolderOf(root, stateDir), ["journal", "open", "runs", "sessions"]);
  return why === null ? null : `${why}, so what is kept there is not believed`;
}

/** The folder is made when the lock is first needed. */
export function openStateLock(state: State): Lock {
  const lock = openFileLock(join(state.folder, "lock"), state.takeLock);
  return async (work, options) => {
    prepareState(state);
    return lock(work, options);
  };
}

/** For its record, receipt and the contents of a small change. */
const roomOfRun = 64 * 1024;

/** Tries it, since only this also notices a quota. Throws disk_full. */
export function requireRoom(state: State): void {
  const probe = join(state.folder, temporaryName());
  try {
    prepareState(state);
    state.disk.createClaim(probe, new Uint8Array(roomOfRun));
  } catch (thrown) {
    const { code } = toPaiError(thrown);
    if (code !== "disk_full") throw thrown;
    throw new PaiError(code, `no space is left in ${state.folder}, where pai keeps what undo needs`, {
      hint: "free some space there, or run with --ephemeral: it keeps nothing, and cannot be undone",
      cause: thrown,
    });
  } finally {
    rmSync(probe, { force: true });
  }
}

/** With a name that people recognise. `root`: real path. */
export function stateFolderOf(root: string, stateDir: string): string {
  const name = basename(root).replace(/[^\w.-]/g, "_");
  return join(stateDir, `${name.slice(0, 100)}-${digest(root).slice(0, 12)}`);
}

/** `must`: a rollback, which runs even while another process holds the lock. */
export type Lock = <T>(work: () => T | Promise<T>, options?: { readonly must: boolean }) => Promise<T>;

/** `work` must wait for nothing. Throws conflict after `patienceMs`, and what `take` throws. */
function openLock(take: () => Held | null, hint: () => string, patienceMs: number): Lock {
  return async (work, { must } = { must: false }) => {
    // A rollback does not fail because a lock cannot be taken.
    const tryTake = () => (must ? orNull(take) : take());
    const until = performance.now() + patienceMs;
    let pause = 2;
    let held = tryTake();
    while (held === null && performance.now() <= until) {
      await Bun.sleep(pause);
      pause = Math.min(pause * 2, 50);
      held = tryTake();
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

/** The folder of `path` must exist. */
export const openFileLock = (path: string, take: TakeLock, patienceMs = 10_000): Lock =>
  openLock(
    () => take(path),
    () => hintOfHeld(path),
    patienceMs,
  );

/** Where nothing is kept: whoever may read the root may lock it. */
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

const openFolder = (root: Root): number | null =>
  orNull(() => root.withFolder("" as RelPath, (at) => openSync(`${at}/`, constants.O_RDONLY | constants.O_DIRECTORY)));
