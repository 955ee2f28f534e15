/** The state folder of a workspace: whether it can be believed, and its lock. */
import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { thisProcess } from "../../system/holder.ts";
import { distrustFolder } from "../../system/judge-folder.ts";
import type { Root } from "../confine.ts";
import { openDisk } from "../system/disk.ts";
import { prepareState, type State } from "./journal.ts";
import { type Lock, lockKernel, openLock, openLockFile } from "./lock.ts";
import { stateFolderOf } from "./state-folder.ts";

/** `why`: nothing is kept for this reason, though something should be. */
export function openState(
  root: Root,
  stateDir: string | null,
): { readonly state: State | null; readonly why: string | null } {
  if (stateDir === null) return { state: null, why: null };
  if (!isWritable(stateDir)) return { state: null, why: `${stateDir} cannot be written` };
  const folder = stateFolderOf(root.path, stateDir);
  // What others could have put there is neither believed nor sent: not the journal, not receipts, not sessions.
  const parts = ["journal", "open", "runs", "sessions"].map((part) => join(folder, part));
  const [why = null] = [folder, ...parts.filter((part) => existsSync(part))].flatMap(
    (part) => distrustFolder(part) ?? [],
  );
  return why === null
    ? { state: { folder, disk: openDisk(), self: thisProcess() }, why }
    : { state: null, why: `${why}, so what is kept there is not believed` };
}

/** The folder is made only when there is something to protect. */
export function openStateLock(state: State): Lock {
  const claims = openLock(join(state.folder, "lock"), state.disk, state.self);
  const lock = lockKernel(() => openLockFile(join(state.folder, "held")), claims);
  return async (work, options) => {
    prepareState(state);
    return lock(work, options);
  };
}

/** Whether it can be written, or made. */
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
