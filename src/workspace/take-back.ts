/** Takes changes back one path at a time, leaving alone what somebody else has changed since. */
import type { Blob, Change } from "../core/change.ts";
import type { RelPath } from "../core/path.ts";
import type { RollbackReport } from "../core/ports.ts";
import { type Batch, byPath, performBatch, prepareBatch, staysIn } from "./batch.ts";
import type { Root } from "./confine.ts";
import type { Disk, Owner } from "./disk.ts";
import { holds, standingAt } from "./files.ts";
import { parentOf } from "./parse.ts";

/**
 * Restores what stood before `changes` (all that were ever meant to happen, in order, done or not).
 * A path is ours while it holds one of the states the changes name. `promise` is told the batch before it begins.
 * Done again after a crash it goes on where it was.
 */
export function takeBack(
  root: Root,
  disk: Disk,
  changes: readonly Change[],
  owners: ReadonlyMap<RelPath, Owner>,
  promise: (batch: Batch) => void,
): RollbackReport {
  const left: RelPath[] = [];
  const todo = new Map<RelPath, Change>();
  for (const [path, states] of statesOf(changes)) {
    const now = standingAt(root, path);
    const before = states[0] ?? null;
    if (holds(now, before)) continue;
    const ours = states.some((state) => holds(now, state)) && !(now.stat?.kind === "file" && now.stat.nlink > 1);
    if (ours && now.blob !== undefined) todo.set(path, { path, before: now.blob, after: before, from: null });
    else left.push(path);
  }
  left.push(...keepImpossible(root, todo));
  const batch = prepareBatch(root, [...todo.values()], 0o022, owners);
  if (batch.changes.length > 0) {
    promise(batch);
    performBatch(root, disk, batch);
  }
  return { restored: batch.changes, left };
}

/** Every state a path was in or was meant to be in; the first is where it began. */
function statesOf(changes: readonly Change[]): Map<RelPath, (Blob | null)[]> {
  const states = new Map<RelPath, (Blob | null)[]>();
  for (const { path, before, after } of changes) {
    const known = states.get(path);
    if (known) known.push(before, after);
    else states.set(path, [before, after]);
  }
  return states;
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
  const now = standingAt(root, folder);
  return now.blob === null ? canHold(root, todo, parentOf(folder)) : now.blob?.kind === "folder";
}
