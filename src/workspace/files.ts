/** Puts, replaces and removes single files, folders and links of the workspace, so that each is old or new and never between. */
import { readdirSync } from "node:fs";
import type { Blob } from "../core/change.ts";
import { sameBlob } from "../core/change.ts";
import { PaiError, toPaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import type { Root } from "./confine.ts";
import type { Disk, Owner } from "./disk.ts";
import { showName } from "./parse.ts";
import type { Stat } from "./stat.ts";

/** What stands at a path: `blob` is `undefined` for what a Blob cannot hold (a device, a huge file). */
export interface Standing {
  readonly blob: Blob | null | undefined;
  readonly stat: Stat | null;
}

const largest = 256 * 1024 * 1024;
const temporary = /^\.pai-[0-9a-f]{16}\.tmp$/;

/** Whether a name is that of a half-written file of ours; such names are never shown. */
export function isTemporary(name: string): boolean {
  return temporary.test(name);
}

export function temporaryName(): string {
  return `.pai-${crypto.getRandomValues(Buffer.alloc(8)).toString("hex")}.tmp`;
}

/** Behind a link or a file stands nothing. */
export function standingAt(root: Root, path: RelPath): Standing {
  const nothing: Standing = { blob: null, stat: null };
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

function unlessUnusable<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (thrown) {
    const { code } = toPaiError(thrown);
    if (code === "path_refused" || code === "file_unusable") return undefined;
    throw thrown;
  }
}

/** Whether a path holds what is expected. Bits that pai never sets (06000) do not count. */
export function holds(standing: Standing, expected: Blob | null): boolean {
  return standing.blob !== undefined && sameBlob(withoutSpecialBits(standing.blob), withoutSpecialBits(expected));
}

/** A file that somebody saved meanwhile is another one, or changed at another time, even with equal bytes and clock. */
export function sameObject(a: Stat | null, b: Stat | null): boolean {
  if (a === null || b === null) return a === b;
  return a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.ctimeNs === b.ctimeNs && a.kind === b.kind;
}

/** Names in a folder, as they are on disk; null: no such folder. */
export function namesIn(root: Root, folder: RelPath): readonly string[] | null {
  return root.withFolder(folder, (at) => readdirSync(`${at}/`));
}

export function makeFolder(root: Root, disk: Disk, path: RelPath, mode: number, owner: Owner | null): void {
  inParent(root, path, (at, name) => disk.createFolder(`${at}/${name}`, mode & 0o1777, owner));
}

/** Writes the new content beside its place, under a temporary name, whole and synced. */
export function stage(
  root: Root,
  disk: Disk,
  path: RelPath,
  temp: string,
  blob: Exclude<Blob, { kind: "folder" }>,
  owner: Owner | null,
): void {
  inParent(root, path, (at) => {
    if (blob.kind === "link") disk.createLink(`${at}/${temp}`, blob.target, owner);
    else disk.createFile(`${at}/${temp}`, blob.bytes, blob.mode & 0o1777, owner);
  });
}

/** Gives staged content its name: over `seen`, or where nothing stood. Throws conflict when that is no longer so. */
export function place(root: Root, disk: Disk, path: RelPath, temp: string, seen: Stat | null): void {
  inParent(root, path, (at, name) => {
    if (seen === null && placeNew(disk, `${at}/${name}`, `${at}/${temp}`, path)) return;
    refuseChanged(root, path, seen);
    disk.rename(`${at}/${name}`, `${at}/${temp}`);
  });
}

export function remove(root: Root, disk: Disk, path: RelPath, seen: Stat | null): void {
  inParent(root, path, (at, name) => {
    if (seen?.kind === "folder") return disk.removeFolder(`${at}/${name}`);
    refuseChanged(root, path, seen);
    disk.removeFile(`${at}/${name}`);
  });
}

/** Removes a temporary file beside `path`, if it is there. */
export function sweep(root: Root, disk: Disk, path: RelPath, temp: string): void {
  if (!isTemporary(temp)) return;
  try {
    root.withParent(path, (at) => disk.removeFile(`${at}/${temp}`));
  } catch (thrown) {
    const { code, cause } = toPaiError(thrown);
    const gone = (cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
    if (!gone && code !== "path_refused" && code !== "file_unusable") throw thrown;
  }
}

export function changedMeanwhile(path: RelPath): PaiError {
  return new PaiError("conflict", `${showName(path)} was changed by somebody else meanwhile`, {
    hint: "Nothing was written; look at the file and run the task again",
  });
}

/** A name that must be free is given by `link`, which never replaces. False: this file system has no second names. */
function placeNew(disk: Disk, to: string, temp: string, path: RelPath): boolean {
  try {
    disk.addName(to, temp);
  } catch (thrown) {
    const errno = (thrown as NodeJS.ErrnoException).code;
    if (errno === "EEXIST") throw changedMeanwhile(path);
    if (errno === "EPERM" || errno === "EOPNOTSUPP" || errno === "ENOSYS" || errno === "EMLINK") return false;
    throw thrown;
  }
  disk.removeFile(temp);
  return true;
}

function refuseChanged(root: Root, path: RelPath, seen: Stat | null): void {
  if (!sameObject(root.stat(path), seen)) throw changedMeanwhile(path);
}

/** System errors name the path as the user knows it, not the descriptor it was reached by. */
function inParent(root: Root, path: RelPath, use: (at: string, name: string) => void): void {
  try {
    if (root.withParent(path, (at, name) => [use(at, name)]) === null) throw changedMeanwhile(path);
  } catch (thrown) {
    const error = toPaiError(thrown);
    if (error === thrown || error.code === "internal") throw thrown;
    const errno = (thrown as NodeJS.ErrnoException).code ?? "unknown error";
    throw new PaiError(error.code, `${showName(path)} cannot be written (${errno})`, { cause: thrown });
  }
}

function withoutSpecialBits(blob: Blob | null): Blob | null {
  return blob?.kind === "file" ? { ...blob, mode: blob.mode & 0o1777 } : blob;
}
