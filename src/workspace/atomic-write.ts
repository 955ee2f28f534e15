/** Atomically creates, replaces and removes single files, folders and links of the workspace. */
import { readdirSync } from "node:fs";
import { type Blob, type Change, sameBlob } from "../core/change.ts";
import { cannotBeWritten, PaiError, unless } from "../core/error.ts";
import { joinPath, parentOf, type RelPath } from "../core/path.ts";
import type { Root } from "./confine.ts";
import { freshTime } from "./fresh-time.ts";
import { showName } from "./parse-path.ts";
import type { Disk } from "./system/disk.ts";
import type { Stat } from "./system/stat.ts";
import { systemCalls } from "./system/system-calls.ts";
import { readTraits, type Traits } from "./traits.ts";

/** `blob` is undefined for what a Blob cannot hold (a device, a huge file). */
export interface PathState {
  readonly blob: Blob | null | undefined;
  readonly stat: Stat | null;
}

/** A path that is being changed. `temp`: the name beside it for its new or its old content. */
export interface Spot {
  readonly root: Root;
  readonly disk: Disk;
  readonly path: RelPath;
  readonly temp: string;
}

/** Another program may save the file faster than pai can give its name back. */
const maxSaves = 8;
const largest = 256 * 1024 * 1024;

export const isTemporary = (name: string): boolean => /^\.pai-[0-9a-f]{16}\.tmp$/.test(name);

export const temporaryName = (): string => `.pai-${crypto.getRandomValues(Buffer.alloc(8)).toString("hex")}.tmp`;

/** Both null below a link or a file. What may not be looked at has no stat and holds nothing that pai knows. */
export const stateAt = (root: Root, path: RelPath): PathState =>
  unless(["permission_denied"], () => readState(root, path)) ?? { blob: undefined, stat: null };

function readState(root: Root, path: RelPath): PathState {
  const nothing: PathState = { blob: null, stat: null };
  const stat = unlessUnusable(() => root.stat(path));
  if (!stat) return nothing;
  if (stat.kind === "folder") return { blob: { kind: "folder", mode: stat.mode }, stat };
  if (stat.kind === "link") return { blob: { kind: "link", target: stat.target ?? "" }, stat };
  const file = unlessUnusable(() => root.readBytes(path, largest));
  if (file === null) return nothing;
  return file
    ? { blob: { kind: "file", bytes: file.bytes, mode: file.stat.mode }, stat: file.stat }
    : { blob: undefined, stat };
}

const unlessUnusable = <T>(look: () => T): T | undefined => unless(["path_refused", "file_unusable"], look);

/** Bits that pai never sets (06000) do not count. */
export const holds = (state: PathState, expected: Blob | null): boolean =>
  state.blob !== undefined && sameBlob(withoutSpecialBits(state.blob), withoutSpecialBits(expected));

/** A saved file differs in inode or ctime even if size and mtime are equal. */
export function sameObject(a: Stat | null, b: Stat | null): boolean {
  if (a === null || b === null) return a === b;
  return a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.ctimeNs === b.ctimeNs && a.kind === b.kind;
}

/** null: no such folder. */
export const namesIn = (root: Root, folder: RelPath): readonly string[] | null =>
  root.withFolder(folder, (at) => readdirSync(`${at}/`));

/** Renamed once its mode is set, so that nobody sees it with another mode. */
export function makeFolder(spot: Spot, mode: number, traits: Traits | null): void {
  const { disk, path, temp } = spot;
  inParent(spot, (at, name) => {
    const [to, from] = [`${at}/${name}`, `${at}/${temp}`];
    disk.createFolder(from, mode & 0o1777, traits);
    if (!takeName(disk, to, from, path)) disk.rename(to, from);
  });
}

export function stage(spot: Spot, blob: Exclude<Blob, { kind: "folder" }>, traits: Traits | null): void {
  const { root, disk, path, temp } = spot;
  inParent(spot, (at) => {
    if (blob.kind === "link") disk.createLink(`${at}/${temp}`, blob.target, traits);
    else disk.createFile(`${at}/${temp}`, blob.bytes, blob.mode & 0o1777, traits, freshTime(root, path));
  });
}

/**
 * Gives staged content its name. If `seen` is not null, it swaps the two files; returns whether the old content is now
 * under `temp`. Throws conflict when somebody else changed the file, even during the swap; that content then has the
 * file's name again, or `temp`.
 */
export function place(spot: Spot, { before, after }: Change, seen: Stat | null): boolean {
  const { root, disk, path, temp } = spot;
  return inParent(spot, (at, name) => {
    const [to, from] = [`${at}/${name}`, `${at}/${temp}`];
    if (seen === null && takeName(disk, to, from, path)) return false;
    refuseChanged(spot, seen);
    if (seen === null || !disk.exchange(to, from)) {
      disk.rename(to, from);
      return false;
    }
    if (isUntouched(spot, from, before)) return true;
    // Somebody saved meanwhile. If swapping back displaces a second, newer save, swap again so that it gets the name.
    const beside = joinPath(parentOf(path), temp);
    for (let tries = 0; tries < maxSaves; tries++) {
      disk.exchange(to, from);
      if (holds(stateAt(root, beside), after)) break;
    }
    throw changedMeanwhile(path);
  });
}

/**
 * Writes into the file that is there, which keeps its owner or cannot be replaced, as it is mounted by itself. What is
 * cut off leaves a mixture, which `isOurs` recognises. Throws conflict for a file that somebody changed or writes.
 */
export function overwrite(spot: Spot, { before, after }: Change, seen: Stat | null): void {
  const { root, disk, path } = spot;
  inParent(spot, (at, name) => {
    const to = `${at}/${name}`;
    if (before?.kind !== "file" || after?.kind !== "file") throw Object.assign(new Error("EBUSY"), { code: "EBUSY" });
    refuseChanged(spot, seen);
    if (systemCalls()?.hasWriter(to)) throw changedMeanwhile(path);
    const mode = after.mode === before.mode ? null : after.mode & 0o1777;
    disk.overwriteFile(to, after.bytes, mode, freshTime(root, path));
  });
}

/** Removes a folder; renames anything else to `temp` and returns true. Throws conflict like `place`. */
export function remove(spot: Spot, { before }: Change, seen: Stat | null): boolean {
  const { disk, path, temp } = spot;
  return inParent(spot, (at, name) => {
    const [from, to] = [`${at}/${name}`, `${at}/${temp}`];
    if (before?.kind === "folder") {
      disk.removeFolder(from);
      return false;
    }
    refuseChanged(spot, seen);
    disk.rename(to, from);
    if (isUntouched(spot, to, before)) return true;
    takeName(disk, from, to, path);
    throw changedMeanwhile(path);
  });
}

export function drop(spot: Spot): void {
  inParent(spot, (at) => spot.disk.removeFile(`${at}/${spot.temp}`));
}

export function traitsAt(root: Root, path: RelPath, stat: Stat): Traits {
  const owned: Traits = { uid: stat.uid, gid: stat.gid, attributes: {} };
  return path === "" ? owned : (root.withParent(path, (at, name) => readTraits(`${at}/${name}`, stat)) ?? owned);
}

export function changedMeanwhile(path: RelPath): PaiError {
  const hint = "it was left as it is; look at it and run the task again";
  return new PaiError("conflict", `${showName(path)} was changed by somebody else meanwhile`, { target: path, hint });
}

/** False: this file system cannot rename without replacing. */
function takeName(disk: Disk, to: string, from: string, path: RelPath): boolean {
  const isTaken = unless(["EEXIST"], () => disk.renameNew(to, from));
  if (isTaken === undefined) throw changedMeanwhile(path);
  return isTaken;
}

/** Whether what was renamed to `temp` (`real` leads to it) is unchanged and nobody has it open for writing. */
function isUntouched({ root, path, temp }: Spot, real: string, before: Blob | null): boolean {
  if (before?.kind === "file" && systemCalls()?.hasWriter(real)) return false;
  return holds(stateAt(root, joinPath(parentOf(path), temp)), before);
}

function refuseChanged({ root, path }: Spot, seen: Stat | null): void {
  const now = root.stat(path);
  if (sameObject(now, seen)) return;
  // Where a file has several names, changing one of them gives the others a new ctime.
  if (now === null || seen === null || seen.nlink < 2) throw changedMeanwhile(path);
  if (!sameObject({ ...now, ctimeNs: now.mtimeNs }, { ...seen, ctimeNs: seen.mtimeNs })) throw changedMeanwhile(path);
}

/** System errors name the path as the user knows it, not the descriptor it was reached by. */
function inParent<T>({ root, path }: Spot, use: (at: string, name: string) => T): T {
  try {
    const done = root.withParent(path, (at, name) => ({ result: use(at, name) }));
    if (done === null) throw changedMeanwhile(path);
    return done.result;
  } catch (thrown) {
    throw cannotBeWritten(showName(path), thrown) ?? thrown;
  }
}

const withoutSpecialBits = (blob: Blob | null): Blob | null =>
  blob?.kind === "file" ? { ...blob, mode: blob.mode & 0o1777 } : blob;
