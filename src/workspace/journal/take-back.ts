/** Undoes changes path by path, and leaves those that somebody else changed since. */
import type { Change } from "../../core/change.ts";
import { orNull, toPaiError, unless } from "../../core/error.ts";
import { parentOf, type RelPath } from "../../core/path.ts";
import type { RollbackReport } from "../../core/ports.ts";
import { finish } from "../../core/steps.ts";
import { holds, stateAt } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import { type Batch, byPath, performBatch, prepareBatch, staysIn } from "../disk-batch.ts";
import { openInPlace, ownersLost } from "../owners.ts";
import type { Disk } from "../system/disk.ts";
import { type Journal, noteIfPossible } from "./journal.ts";
import { isOurs, putBack, statesOf } from "./put-back.ts";

const maxTries = 3;

/**
 * Restores the state before `changes`: all that were ever intended, in order. A path that holds none of their states is
 * somebody else's, and left. May be repeated after a crash.
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
      batch = finish(prepareBatch(root, todo, 0o022, traits));
      if (batch.changes.length > 0) {
        const { temps } = batch;
        noteIfPossible(() => journal?.promiseTemps(temps));
        finish(performBatch(root, disk, batch));
      }
      return { restored: batch.changes, left: [...left, ...copies], lost: ownersLost(root.path, batch) };
    } catch (thrown) {
      const temps = batch?.temps ?? [];
      // If tidying fails now, the next start does it: the journal has the temporary names.
      copies.push(...(orNull(() => putBack(root, disk, changes, temps)) ?? []));
      if (tries === maxTries || toPaiError(thrown).code !== "conflict") throw thrown;
    }
  }
}

function judgeStates(root: Root, changes: readonly Change[]): { todo: readonly Change[]; left: readonly RelPath[] } {
  const left: RelPath[] = [];
  const todo = new Map<RelPath, Change>();
  const isInPlace = openInPlace(root.path);
  for (const [path, states] of statesOf(changes)) {
    const now = stateAt(root, path);
    const before = states[0] ?? null;
    if (holds(now, before)) continue;
    const isKnown = states.some((state) => holds(now, state));
    const ours = isKnown || (isInPlace(path, "bytes") && isOurs(now, states));
    if (ours && now.blob !== undefined) todo.set(path, { path, before: now.blob, after: before, from: null });
    else left.push(path);
  }
  left.push(...keepImpossible(root, todo));
  return { todo: [...todo.values()], left };
}

/** Drops what cannot be undone without touching others' work, such as folders that hold more; returns it. */
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
    if (keepsMore(root, path, next)) drop(path);
  }
  return kept;
}

/** True also for a folder that may not be listed. */
const keepsMore = (root: Root, folder: RelPath, next: ReadonlyMap<RelPath, Change["after"]>): boolean =>
  unless(["permission_denied"], () => staysIn(root, folder, next).length > 0) ?? true;

function canHold(root: Root, todo: ReadonlyMap<RelPath, Change>, folder: RelPath): boolean {
  if (folder === "") return true;
  const planned = todo.get(folder);
  if (planned) return planned.after?.kind === "folder";
  const now = stateAt(root, folder);
  return now.blob === null ? canHold(root, todo, parentOf(folder)) : now.blob?.kind === "folder";
}
