/** Brings a set of changes to the disk: checked whole, staged whole, then named one by one. */
import type { Blob, Change } from "../core/change.ts";
import { squash } from "../core/change.ts";
import { PaiError, toPaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import type { Root } from "./confine.ts";
import type { Disk, Owner } from "./disk.ts";
import {
  changedMeanwhile,
  holds,
  makeFolder,
  namesIn,
  place,
  remove,
  type Standing,
  stage,
  standingAt,
  sweep,
  temporaryName,
} from "./files.ts";
import { parentOf, showName } from "./parse.ts";
import type { Stat } from "./stat.ts";

/** A set of changes that is ready for the disk, with everything a recovery needs to know beforehand. */
export interface Batch {
  readonly changes: readonly Change[];
  /** Temporary name beside each path that gets content. */
  readonly temps: ReadonlyMap<RelPath, string>;
  /** Who owns what stands there now; kept when pai may (as root). */
  readonly owners: ReadonlyMap<RelPath, Owner>;
  /** What stood there when it was checked. */
  readonly seen: ReadonlyMap<RelPath, Stat | null>;
}

/**
 * Checks changes against the disk and adds the folders that are missing on the way; writes nothing.
 * `owners` are known from before, for what was deleted and comes back.
 * Throws conflict when a path is not as it was, file_unusable when a file stands where a folder is needed,
 * delete_refused for a folder that holds more than the changes take away.
 */
export function prepareBatch(
  root: Root,
  wanted: readonly Change[],
  umask: number,
  owners: ReadonlyMap<RelPath, Owner> = new Map(),
): Batch {
  const changes = byPath([...missingFolders(root, wanted, 0o777 & ~umask), ...squash(wanted)]);
  const after = new Map(changes.map((change) => [change.path, change.after]));
  const seen = new Map<RelPath, Stat | null>();
  const owned = new Map<RelPath, Owner>();
  for (const { path, before } of changes) {
    const standing = standingAt(root, path);
    if (!holds(standing, before)) throw conflictAt(root, path, before, standing);
    seen.set(path, standing.stat);
    const owner: Owner | undefined = standing.stat ? [standing.stat.uid, standing.stat.gid] : owners.get(path);
    if (owner) owned.set(path, owner);
    if (before?.kind === "folder") refuseUnlessEmptied(root, path, after);
  }
  for (const { path, from } of changes) {
    const owner = from === null ? undefined : owned.get(from);
    if (owner && !owned.has(path)) owned.set(path, owner);
  }
  const temps = changes.filter(({ after }) => after !== null && after.kind !== "folder");
  return { changes, temps: new Map(temps.map(({ path }) => [path, temporaryName()])), owners: owned, seen };
}

/**
 * Does a prepared batch. Whatever may run out of space comes before the first name changes.
 * Throws at the first failure and leaves what is done so far: taking it back is the caller's.
 */
export function performBatch(root: Root, disk: Disk, batch: Batch): void {
  const staged = new Set<RelPath>();
  const ownerOf = (path: RelPath) => (process.geteuid?.() === 0 ? (batch.owners.get(path) ?? null) : null);

  const makeFolders = () => {
    for (const { path, after } of batch.changes) {
      if (after?.kind !== "folder" || !isFolder(root, parentOf(path)) || root.stat(path) !== null) continue;
      makeFolder(root, disk, path, after.mode, ownerOf(path));
    }
  };
  const stageContents = () => {
    for (const { path, after } of batch.changes) {
      const temp = batch.temps.get(path);
      if (temp === undefined || after === null || after.kind === "folder") continue;
      if (staged.has(path) || !isFolder(root, parentOf(path))) continue;
      stage(root, disk, path, temp, after, ownerOf(path));
      staged.add(path);
    }
  };

  makeFolders();
  stageContents();
  for (const { path, before, after } of [...batch.changes].reverse()) {
    if (before !== null && isReplacedWhole(before, after)) remove(root, disk, path, batch.seen.get(path) ?? null);
  }
  makeFolders();
  stageContents();
  for (const { path, before, after } of batch.changes) {
    const temp = batch.temps.get(path);
    if (temp === undefined) continue;
    const seen = before === null || isReplacedWhole(before, after) ? null : (batch.seen.get(path) ?? null);
    place(root, disk, path, temp, seen);
  }
  syncFolders(root, disk, batch);
}

/** Removes the temporary files of a batch that was cut off. */
export function sweepTemps(root: Root, disk: Disk, temps: Iterable<readonly [RelPath, string]>): void {
  for (const [path, temp] of temps) sweep(root, disk, path, temp);
}

/** Parents before children, so reversed: children before parents. */
export function byPath(changes: readonly Change[]): Change[] {
  const depth = (path: RelPath) => path.split("/").length;
  return [...changes].sort((a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1));
}

/** Folders on the way to new content that neither stand there nor are made by the changes themselves. */
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

/** Throws when something else stands there, or shall. `planned` undefined: no change speaks of it. */
function isMissing(root: Root, folder: RelPath, planned: Blob | null | undefined): boolean {
  if (planned?.kind === "folder") return false;
  if (planned !== undefined) throw noFolder(folder);
  const { stat } = standingAt(root, folder);
  if (stat !== null && stat.kind !== "folder") throw whyNoFolder(root, folder);
  return stat === null;
}

/** Names in a folder that would stay behind if these paths went. */
export function staysIn(root: Root, folder: RelPath, after: ReadonlyMap<RelPath, Blob | null>): readonly string[] {
  return (namesIn(root, folder) ?? []).filter((name) => after.get(`${folder}/${name}` as RelPath) !== null);
}

/** A folder and anything else cannot replace each other in one step. */
function isReplacedWhole(before: Blob, after: Blob | null): boolean {
  return after === null || (before.kind === "folder") !== (after.kind === "folder");
}

function isFolder(root: Root, path: RelPath): boolean {
  try {
    return root.stat(path)?.kind === "folder";
  } catch (thrown) {
    const { code } = toPaiError(thrown);
    if (code === "file_unusable" || code === "path_refused") return false;
    throw thrown;
  }
}

function refuseUnlessEmptied(root: Root, path: RelPath, after: ReadonlyMap<RelPath, Blob | null>): void {
  const next = after.get(path);
  if (next !== null && next?.kind === "folder") return;
  const [first, ...more] = staysIn(root, path, after);
  if (first === undefined) return;
  const rest = more.length > 0 ? ` and ${more.length} more` : "";
  throw new PaiError("delete_refused", `${showName(path)} still holds ${showName(first)}${rest}`, {
    hint: "Remove what is in the folder first",
  });
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

function conflictAt(root: Root, path: RelPath, before: Blob | null, { blob }: Standing): PaiError {
  if (blob !== null && before !== null) return changedMeanwhile(path);
  if (blob === null) {
    const why = whyNoFolder(root, parentOf(path));
    if (why.code !== "file_unusable") return why;
  }
  return new PaiError("conflict", `${showName(path)} ${blob === null ? "is gone" : "exists already"}`, {
    hint: "Nothing was written; look at it and run the task again",
  });
}

/** Says what stands where a folder is needed: the walk there knows best. */
function whyNoFolder(root: Root, path: RelPath): PaiError {
  try {
    root.withFolder(path, () => null);
    return noFolder(path);
  } catch (thrown) {
    return toPaiError(thrown);
  }
}

function noFolder(path: RelPath): PaiError {
  return new PaiError("file_unusable", `${showName(path)} is not a folder, so nothing can be put in it`);
}
