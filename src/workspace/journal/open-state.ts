/** Opens the state folder of a workspace, checks whether it can be trusted, and opens its lock. */
import { accessSync, constants, existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { PaiError, toPaiError } from "../../core/error.ts";
import { distrustParts } from "../../system/judge-folder.ts";
import { takeLock } from "../../system/lock.ts";
import { temporaryName } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import { openDisk } from "../system/disk.ts";
import { prepareState, type State } from "./journal.ts";
import { type Lock, openFileLock } from "./lock.ts";
import { stateFolderOf } from "./state-folder.ts";

/** `why`: the reason why nothing is kept although it should be. */
export function openState(
  root: Root,
  stateDir: string | null,
): { readonly state: State | null; readonly why: string | null } {
  if (stateDir === null) return { state: null, why: null };
  const why = whyNotKept(root.path, stateDir);
  if (why !== null) return { state: null, why };
  return { state: { folder: stateFolderOf(root.path, stateDir), disk: openDisk(), takeLock }, why: null };
}

/** Why nothing of a workspace can be kept in this folder; null: it can. `root` is the workspace's real path. */
export function whyNotKept(root: string, stateDir: string): string | null {
  if (!isWritable(stateDir)) return `${stateDir} cannot be written`;
  // Journal, receipts and sessions are neither trusted nor sent on if other users could have written them.
  const why = distrustParts(stateFolderOf(root, stateDir), ["journal", "open", "runs", "sessions"]);
  return why === null ? null : `${why}, so what is kept there is not believed`;
}

/** The folder is made only when the lock is first needed. */
export function openStateLock(state: State): Lock {
  const lock = openFileLock(join(state.folder, "lock"), state.takeLock);
  return async (work, options) => {
    prepareState(state);
    return lock(work, options);
  };
}

/** Bytes that must be free where a run is kept: its record, receipt and the contents of a small change. */
const roomOfRun = 64 * 1024;

/** Writes and removes a file of that size, since only this also notices a quota. Throws disk_full. */
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

/** Whether the folder can be written or created. */
function isWritable(folder: string): boolean {
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  try {
    accessSync(at, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
