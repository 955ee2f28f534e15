/** Undoes an interrupted batch by renaming, and changes path by path; leaves those that somebody else changed since. */
import { type Blob, beforeBoth, type Change } from "../../core/change.ts";
import { orNull, PaiError, toPaiError, unless } from "../../core/error.ts";
import { joinPath, nameOf, parentOf, type RelPath } from "../../core/path.ts";
import type { RollbackReport } from "../../core/ports.ts";
import { finish } from "../../core/steps.ts";
import { holds, isTemporary, type PathState, type Spot, stateAt } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import { type Batch, byPath, performBatch, prepareBatch, staysIn } from "../disk-batch.ts";
import { openInPlace, ownersLost } from "../owners.ts";
import { showName } from "../parse-path.ts";
import type { Disk } from "../system/disk.ts";
import { type Journal, noteIfPossible } from "./journal.ts";

type States = readonly (Blob | null)[];

/**
 * If a path holds only pai's own work, its original, or what somebody saved meanwhile, gets the name back; any other
 * save is kept as a copy beside it. Needs no disk space and may be repeated after a crash. Returns the copies.
 */
export function putBack(
  root: Root,
  disk: Disk,
  changes: readonly Change[],
  temps: Iterable<readonly [RelPath, string]>,
): readonly RelPath[] {
  const states = statesOf(changes);
  const copies: RelPath[] = [];
  for (const [path, temp] of [...temps].reverse()) {
    const known = states.get(path);
    if (!isTemporary(temp) || known === undefined) continue;
    const beside = joinPath(parentOf(path), temp);
    const aside = stateOfTemporary(root, beside);
    if (aside === null) continue;
    const spot: Spot = { root, disk, path, temp };
    if (shouldRestore(aside, stateAt(root, path), known)) giveName(spot);
    const copy = clear(spot, known);
    if (copy !== null) copies.push(copy);
  }
  return copies;
}

/** All states of a path; the first is the original, with what somebody else wrote between two of the changes. */
export function statesOf(changes: readonly Change[]): Map<RelPath, (Blob | null)[]> {
  const states = new Map<RelPath, (Blob | null)[]>();
  const whole = new Map<RelPath, Change>();
  for (const change of changes) {
    const { path, before, after } = change;
    const earlier = whole.get(path);
    const first = earlier === undefined ? before : beforeBoth(earlier, change);
    whole.set(path, { ...change, before: first });
    states.set(path, [first, ...(states.get(path) ?? []), before, after]);
  }
  return states;
}

/** `aside` is the original or somebody's save, and the path holds only pai's own work. Folders are made anew. */
function shouldRestore(aside: PathState, now: PathState, states: States): boolean {
  if (aside.stat?.kind === "folder") return false;
  const begun = states[0] ?? null;
  if (!states.some((state) => holds(now, state))) return false;
  return holds(aside, begun) ? !holds(now, begun) : !isOurs(aside, states);
}

/** Throws permission_denied for one that cannot be read now, so that the next start tidies it. */
function stateOfTemporary(root: Root, path: RelPath): PathState | null {
  const state = stateAt(root, path);
  if (state.stat !== null) return state;
  if (root.statOrNull(path) === null) return null;
  throw new PaiError("permission_denied", `${showName(path)} cannot be read`);
}

function giveName({ root, disk, path, temp }: Spot): void {
  root.withParent(path, (at, name) => {
    const [to, from] = [`${at}/${name}`, `${at}/${temp}`];
    if (unless(["EEXIST"], () => disk.renameNew(to, from)) !== true) disk.exchange(to, from);
  });
}

/** Removes pai's own content; renames anything else to a visible copy and returns its path. */
function clear({ root, disk, path, temp }: Spot, states: States): RelPath | null {
  const parent = parentOf(path);
  const aside = stateOfTemporary(root, joinPath(parent, temp));
  if (aside === null) return null;
  if (isOurs(aside, states)) {
    root.withFolder(parent, (at) =>
      aside.stat?.kind === "folder" ? disk.removeFolder(`${at}/${temp}`) : disk.removeFile(`${at}/${temp}`),
    );
    return null;
  }
  const mark = `conflict-${temp.slice(5, 13)}`;
  const name = nameOf(path);
  const copy = Buffer.byteLength(name) > 200 ? mark : `${name}.${mark}`;
  root.withFolder(parent, (at) => disk.rename(`${at}/${copy}`, `${at}/${temp}`));
  return joinPath(parent, copy);
}

/** One of these states, or a part or mixture of them that a power cut left. */
function isOurs({ blob }: PathState, states: States): boolean {
  if (blob === null || blob === undefined) return false;
  if (blob.kind === "folder") return states.some((state) => state?.kind === "folder");
  if (blob.kind === "link") return states.some((state) => state?.kind === "link" && state.target === blob.target);
  const whole = states.flatMap((state) => (state?.kind === "file" ? [state.bytes] : []));
  return isTorn(blob.bytes, whole);
}

/** Each byte is that of one of the contents at its place, or zero. */
function isTorn(torn: Uint8Array, whole: readonly Uint8Array[]): boolean {
  if (whole.some((each) => Buffer.compare(torn, each.subarray(0, torn.length)) === 0)) return true;
  if (whole.every((each) => torn.length > each.length)) return false;
  return torn.every((byte, at) => byte === 0 || whole.some((each) => byte === each[at]));
}

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
  for (const { path, after } of byPath([...todo.values()]))
    if (after !== null && !canHold(root, todo, parentOf(path))) drop(path);
  for (const { path, before, after } of byPath([...todo.values()]).reverse()) {
    if (before?.kind !== "folder" || after?.kind === "folder") continue;
    const next = new Map([...todo].map(([key, change]) => [key, change.after]));
    if (keepsMore(root, path, next)) drop(path);
  }
  return kept;
}

const keepsMore = (root: Root, folder: RelPath, next: ReadonlyMap<RelPath, Change["after"]>): boolean =>
  unless(["permission_denied"], () => staysIn(root, folder, next).length > 0) ?? true;

function canHold(root: Root, todo: ReadonlyMap<RelPath, Change>, folder: RelPath): boolean {
  if (folder === "") return true;
  const planned = todo.get(folder);
  if (planned) return planned.after?.kind === "folder";
  const now = stateAt(root, folder);
  return now.blob === null ? canHold(root, todo, parentOf(folder)) : now.blob?.kind === "folder";
}
