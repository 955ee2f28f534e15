/** Writes a set of changes to the disk: checks them all, stages them all, then renames each file into place. */
import { type Blob, type Change, squash } from "../core/change.ts";
import { PaiError, toPaiError, unless } from "../core/error.ts";
import { parentOf, type RelPath } from "../core/path.ts";
import type { Touch } from "../core/ports.ts";
import type { Steps } from "../core/steps.ts";
import {
  changedMeanwhile,
  drop,
  holds,
  makeFolder,
  namesIn,
  overwrite,
  type PathState,
  place,
  remove,
  type Spot,
  stage,
  stateAt,
  temporaryName,
  traitsAt,
} from "./atomic-write.ts";
import type { Root } from "./confine.ts";
import { noteReplaced } from "./fresh-time.ts";
import { openInPlace } from "./owners.ts";
import { showName } from "./parse-path.ts";
import type { Disk } from "./system/disk.ts";
import type { Stat } from "./system/stat.ts";
import type { Traits } from "./traits.ts";

/** A checked set of changes, with everything that a recovery needs to know. */
export interface Batch {
  readonly changes: readonly Change[];
  /** Beside each path, for its new or old content. A file without one is written where it is. */
  readonly temps: ReadonlyMap<RelPath, string>;
  /** Owner and attributes of the current file, which its new content gets. */
  readonly traits: ReadonlyMap<RelPath, Traits>;
  readonly seen: ReadonlyMap<RelPath, Stat | null>;
}

/**
 * Checks changes and adds missing parent folders; writes nothing. `known`: owners and attributes for deleted files that
 * are restored. Throws conflict when a path is not in its `before` state, file_unusable for a file where a folder is
 * needed, delete_refused for a folder that holds more than the changes remove.
 */
export function* prepareBatch(
  root: Root,
  wanted: readonly Change[],
  umask: number,
  known: ReadonlyMap<RelPath, Traits> = new Map(),
): Steps<Batch> {
  const changes = byPath([...missingFolders(root, wanted, 0o777 & ~umask), ...squash(wanted)]);
  const after = new Map(changes.map((change) => [change.path, change.after]));
  const seen = new Map<RelPath, Stat | null>();
  const traits = new Map<RelPath, Traits>();
  for (const { path, before } of changes) {
    yield;
    const state = stateAt(root, path);
    if (!holds(state, before)) throw conflictAt(root, path, before, state);
    seen.set(path, state.stat);
    const theirs = state.stat ? traitsAt(root, path, state.stat) : known.get(path);
    if (theirs) traits.set(path, theirs);
    if (before?.kind === "folder") refuseUnlessEmptied(root, path, after);
  }
  for (const { path, from } of changes) {
    const theirs = from === null ? undefined : traits.get(from);
    if (theirs && !traits.has(path)) traits.set(path, theirs);
  }
  const isInPlace = openInPlace(root.path);
  const contents = changes.filter(({ before, after }) => after !== null || isContent(before));
  const named = contents.filter((change) => !isInPlace(change.path, touchOfChange(change)));
  return { changes, temps: new Map(named.map(({ path }) => [path, temporaryName()])), traits, seen };
}

/**
 * All that may run out of space comes before the first rename, and old content stays under its temporary name to the
 * end, so that renames alone can undo it (`putBack`), which the caller does after a failure.
 */
export function* performBatch(root: Root, disk: Disk, batch: Batch): Steps<void> {
  const staged = new Set<RelPath>();
  const aside = new Set<RelPath>();
  const traitsOf = (path: RelPath) => batch.traits.get(path) ?? null;
  const spotOf = (path: RelPath): Spot => ({ root, disk, path, temp: batch.temps.get(path) ?? "" });

  const makeFolders = () => {
    for (const { path, after } of batch.changes) {
      if (after?.kind !== "folder" || !isFolder(root, parentOf(path)) || root.stat(path) !== null) continue;
      makeFolder(spotOf(path), after.mode, traitsOf(path));
    }
  };
  const stageContent = ({ path, after }: Change) => {
    if (!isContent(after) || !batch.temps.has(path) || staged.has(path) || !isFolder(root, parentOf(path))) return;
    stage(spotOf(path), after, traitsOf(path));
    staged.add(path);
  };
  const dropAside = (folder: RelPath | null) => {
    for (const path of aside) {
      if (folder !== null && parentOf(path) !== folder) continue;
      drop(spotOf(path));
      aside.delete(path);
    }
  };
  const removeOld = (change: Change) => {
    if (!isReplacedWhole(change)) return;
    if (change.before?.kind === "folder") dropAside(change.path);
    const spot = spotOf(change.path);
    if (change.before?.kind !== "folder" && !batch.temps.has(change.path)) return overwrite(spot, change, null);
    if (!remove(spot, change, batch.seen.get(change.path) ?? null)) return;
    if (change.after === null) aside.add(change.path);
    else drop(spot);
  };
  const placeNew = (change: Change) => {
    if (!isContent(change.after)) return;
    const seen = change.before === null || isReplacedWhole(change) ? null : (batch.seen.get(change.path) ?? null);
    if (!batch.temps.has(change.path)) return overwrite(spotOf(change.path), change, seen);
    if (place(spotOf(change.path), change, seen)) aside.add(change.path);
  };

  for (const [path, stat] of batch.seen) noteReplaced(root, path, stat);
  makeFolders();
  yield* eachOf(batch.changes, stageContent);
  yield* eachOf([...batch.changes].reverse(), removeOld);
  makeFolders();
  yield* eachOf(batch.changes, stageContent);
  yield* eachOf(batch.changes, placeNew);
  dropAside(null);
  syncFolders(root, disk, batch);
}

function* eachOf(changes: readonly Change[], work: (change: Change) => void): Steps<void> {
  for (const change of changes) {
    yield;
    work(change);
  }
}

/** Parents before children; reverse it for children before parents. */
export function byPath(changes: readonly Change[]): Change[] {
  const depth = (path: RelPath) => path.split("/").length;
  return [...changes].sort((a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1));
}

function missingFolders(root: Root, changes: readonly Change[], mode: number): Change[] {
  const planned = new Map(changes.map((change) => [change.path, change.after]));
  const missing = new Map<RelPath, Change>();
  for (const { path, after } of changes) {
    if (after === null) continue;
    let folder = parentOf(path);
    while (folder !== "" && !missing.has(folder) && isMissing(root, folder, planned.get(folder))) {
      missing.set(folder, { path: folder, before: null, after: { kind: "folder", mode }, from: null });
      folder = parentOf(folder);
    }
  }
  return [...missing.values()];
}

/** `planned`: what the changes put there. Throws where that or the existing path is no folder. */
function isMissing(root: Root, folder: RelPath, planned: Blob | null | undefined): boolean {
  if (planned?.kind === "folder") return false;
  if (planned !== undefined) throw noFolder(folder);
  const { stat, blob } = stateAt(root, folder);
  if (blob === undefined && stat === null) throw unseen(folder);
  if (stat !== null && stat.kind !== "folder") throw whyNoFolder(root, folder);
  return stat === null;
}

export const staysIn = (root: Root, folder: RelPath, after: ReadonlyMap<RelPath, Blob | null>): readonly string[] =>
  (namesIn(root, folder) ?? []).filter((name) => after.get(`${folder}/${name}` as RelPath) !== null);

type Content = Exclude<Blob, { kind: "folder" }>;

const isContent = (blob: Blob | null): blob is Content => blob !== null && blob.kind !== "folder";

function touchOfChange({ before, after }: Change): Touch {
  if (before?.kind !== "file" || after?.kind !== "file") return "name";
  return before.mode === after.mode ? "bytes" : "mode";
}

const isReplacedWhole = ({ before, after }: Change): boolean =>
  before !== null && (after === null || (before.kind === "folder") !== (after.kind === "folder"));

const isFolder = (root: Root, path: RelPath): boolean =>
  unless(["file_unusable", "path_refused"], () => root.stat(path))?.kind === "folder";

function refuseUnlessEmptied(root: Root, path: RelPath, after: ReadonlyMap<RelPath, Blob | null>): void {
  const next = after.get(path);
  if (next !== null && next?.kind === "folder") return;
  const [first, ...more] = staysIn(root, path, after);
  if (first === undefined) return;
  const held = `${showName(first)}${more.length > 0 ? ` and ${more.length} more` : ""}`;
  const hint = "remove what is in the folder first";
  throw new PaiError("delete_refused", `${showName(path)} still holds ${held}`, { target: path, hint });
}

function syncFolders(root: Root, disk: Disk, batch: Batch): void {
  const folders = new Set<RelPath>();
  for (const { path, after } of batch.changes) {
    folders.add(parentOf(path));
    if (after?.kind === "folder") folders.add(path);
  }
  for (const folder of folders) {
    if (isFolder(root, folder)) root.withFolder(folder, (at) => [disk.syncFolder(`${at}/`)]);
  }
}

function conflictAt(root: Root, path: RelPath, before: Blob | null, { blob, stat }: PathState): PaiError {
  if (blob === undefined && stat === null) return unseen(path);
  if (blob !== null && before !== null) return changedMeanwhile(path);
  if (blob === null) {
    const why = whyNoFolder(root, parentOf(path));
    if (why.code !== "file_unusable") return why;
  }
  const hint = "it was left as it is; look at it and run the task again";
  const why = blob === null ? "is gone" : "exists already";
  return new PaiError("conflict", `${showName(path)} ${why}`, { target: path, hint });
}

/** Entering it throws the error that names the obstacle. */
function whyNoFolder(root: Root, path: RelPath): PaiError {
  try {
    root.withFolder(path, () => null);
    return noFolder(path);
  } catch (thrown) {
    return toPaiError(thrown);
  }
}

const unseen = (path: RelPath): PaiError =>
  new PaiError("permission_denied", `you have no right to look at ${showName(path)}`);

const noFolder = (path: RelPath): PaiError =>
  new PaiError("file_unusable", `${showName(path)} is not a folder, so it cannot contain files`);
