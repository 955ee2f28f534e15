/** Takes changes back one path at a time, leaving alone what somebody else has changed since. */
import type { Change } from "../../core/change.ts";
import { toPaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { RollbackReport } from "../../core/ports.ts";
import { holds, stateAt } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import { type Batch, byPath, performBatch, prepareBatch, staysIn } from "../disk-batch.ts";
import { parentOf } from "../parse-path.ts";
import type { Disk } from "../system/disk.ts";
import { type Journal, noteIfPossible } from "./journal.ts";
import { putBack, statesOf } from "./put-back.ts";

const maxTries = 3;

/**
 * Restores the state before `changes` (all that were ever meant to happen, in order, done or not).
 * A path is ours while it holds one of the states the changes name. `traits` are those from before, for what comes back.
 * Done again after a crash it goes on where it was; what somebody changes while it is at work is left like the rest.
 */
export function takeBack(
  root: Root,
  disk: Disk,
  journal: Journal | null,
  { changes, traits }: Pick<Batch, "changes" | "traits">,
): RollbackReport {
  const copies: RelPath[] = [];
  for (let tries = 1; ; tries++) {
    const { todo, left } = judgeStates(root, changes);
    let batch: Batch | null = null;
    try {
      batch = prepareBatch(root, todo, 0o022, traits);
      if (batch.changes.length > 0) {
        const { temps } = batch;
        noteIfPossible(() => journal?.promiseTemps(temps));
        performBatch(root, disk, batch);
      }
      return { restored: batch.changes, left: [...left, ...copies] };
    } catch (thrown) {
      if (batch !== null) copies.push(...tidy(root, disk, changes, batch));
      if (tries === maxTries || toPaiError(thrown).code !== "conflict") throw thrown;
    }
  }
}

/** What cannot be tidied now is tidied by the next start: its names are promised. */
function tidy(root: Root, disk: Disk, changes: readonly Change[], { temps }: Batch): readonly RelPath[] {
  try {
    return putBack(root, disk, changes, temps);
  } catch {
    return [];
  }
}

/** Finds the changes that are still there and ours to take back, and those that somebody else has changed since. */
function judgeStates(root: Root, changes: readonly Change[]): { todo: readonly Change[]; left: readonly RelPath[] } {
  const left: RelPath[] = [];
  const todo = new Map<RelPath, Change>();
  for (const [path, states] of statesOf(changes)) {
    const now = stateAt(root, path);
    const before = states[0] ?? null;
    if (holds(now, before)) continue;
    const ours = states.some((state) => holds(now, state)) && !(now.stat?.kind === "file" && now.stat.nlink > 1);
    if (ours && now.blob !== undefined) todo.set(path, { path, before: now.blob, after: before, from: null });
    else left.push(path);
  }
  left.push(...keepImpossible(root, todo));
  return { todo: [...todo.values()], left };
}

/** Drops what cannot be taken back without touching somebody else's: folders that hold more, places that became something else. */
function keepImpossible(root: Root, todo: Map<RelPath, Change>): RelPath[] {
  const kept: RelPath[] = [];
  const drop = (path: RelPath) => {
    todo.delete(path);
    kept.push(path);
  };
  for (const { path, after } of byPath([...todo.values()])) {
    if (after !== null && !canHold(root, todo, parentOf(path))) drop(path);
  }
  for (const { path, before, after } of byPath([...todo.values()]).reverse()) {
    if (before?.kind !== "folder" || after?.kind === "folder") continue;
    const next = new Map([...todo].map(([key, change]) => [key, change.after]));
    if (staysIn(root, path, next).length > 0) drop(path);
  }
  return kept;
}

function canHold(root: Root, todo: ReadonlyMap<RelPath, Change>, folder: RelPath): boolean {
  if (folder === "") return true;
  const planned = todo.get(folder);
  if (planned) return planned.after?.kind === "folder";
  const now = stateAt(root, folder);
  return now.blob === null ? canHold(root, todo, parentOf(folder)) : now.blob?.kind === "folder";
}
