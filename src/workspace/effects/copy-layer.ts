/** Into the upper layer of a command's copy go the staged changes; out of it come ignored paths, which no undo covers. */
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Change } from "../../core/change.ts";
import { PaiError } from "../../core/error.ts";
import { joinPath, parentOf, type RelPath } from "../../core/path.ts";
import { pace, type Steps } from "../../core/steps.ts";
import { cString, openLibc } from "../../system/libc.ts";
import { temporaryName } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import { systemCalls } from "../system/system-calls.ts";
import { isDeletion, isOpaqueFolder } from "./layer.ts";

const characterDevice = 0o020000;

/** Parents first. A deletion becomes the overlay's mark for one. */
export function stageLayer(root: Root, upper: string, staged: readonly Change[]): void {
  const sorted = [...staged].sort((a, b) => (a.path < b.path ? -1 : 1));
  const gone = new Set<RelPath>();
  for (const { path, after } of sorted) {
    if ([...gone].some((folder) => path.startsWith(`${folder}/`))) continue;
    const at = join(upper, path);
    makeParents(root, upper, path);
    // Nothing exists below a file or a link; a link's target must never be written.
    if (after?.kind !== "folder") gone.add(path);
    if (after === null) {
      if (root.statOrNull(path) !== null) makeDeletion(at);
    } else if (after.kind === "folder") mkdirSync(at, { recursive: true, mode: after.mode });
    else if (after.kind === "link") symlinkSync(after.target, at);
    else {
      writeFileSync(at, after.bytes);
      chmodSync(at, after.mode & 0o777);
    }
  }
}

/** With the attributes of the workspace: a command sees those of the upper layer. */
function makeParents(root: Root, upper: string, path: RelPath): void {
  const folder = parentOf(path);
  if (folder === "") return;
  makeParents(root, upper, folder);
  const at = join(upper, folder);
  try {
    mkdirSync(at);
  } catch {
    return;
  }
  const stat = root.statOrNull(folder);
  if (stat === null) return;
  chmodSync(at, stat.mode & 0o777);
  if (process.getuid?.() === 0) chownSync(at, stat.uid, stat.gid);
}

function makeDeletion(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const libc = openLibc({ mknod: { args: ["buffer", "u32", "u64"], returns: "i32" } });
  if (libc?.functions.mknod(cString(path), characterDevice, 0) === 0) return;
  throw new PaiError("io_failed", "a deletion cannot be shown to a command on a copy of the workspace");
}

/** Returns the paths that had anything to take, also after an abort. `made` gets the new ones. */
export async function takeOver(
  { root, upper, made }: { readonly root: Root; readonly upper: string; readonly made: Set<RelPath> },
  paths: readonly RelPath[],
  signal: AbortSignal,
): Promise<readonly RelPath[]> {
  const done: RelPath[] = [];
  function* takeAll(): Steps<void> {
    for (const path of paths) {
      const isNew = root.statOrNull(path) === null;
      let count = 0;
      try {
        for (const _ of take(root, upper, path)) {
          count += 1;
          yield;
        }
      } finally {
        if (count > 0) done.push(path);
        if (count > 0 && isNew) made.add(path);
      }
    }
  }
  try {
    await pace(takeAll(), signal);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
  return done;
}

/** Build tools compare file times. */
export function takeTimes(root: Root, upper: string, paths: readonly RelPath[]): void {
  for (const path of paths) {
    const stat = lstatSync(join(upper, path), { throwIfNoEntry: false });
    if (stat === undefined || root.statOrNull(path)?.kind !== "file") continue;
    root.withParent(path, (folder, name) => lutimesSync(`${folder}/${name}`, stat.atime, stat.mtime));
  }
}

function* take(root: Root, upper: string, path: RelPath): Steps<void> {
  const at = join(upper, path);
  const stat = lstatSync(at, { throwIfNoEntry: false });
  if (stat === undefined || !(stat.isFile() || stat.isDirectory() || stat.isSymbolicLink() || isDeletion(stat))) return;
  const lower = root.stat(path);
  if (stat.isDirectory() && lower?.kind === "folder" && !isOpaqueFolder(at)) {
    for (const name of readdirSync(at)) yield* take(root, upper, joinPath(path, name));
    return;
  }
  if (stat.isDirectory()) yield* clean(at);
  if (stat.isFile()) cleanFile(at, stat);
  if (lower !== null && (lower.kind === "folder" || stat.isDirectory() || isDeletion(stat))) drop(root, path);
  if (!isDeletion(stat)) root.withParent(path, (folder, name) => move(at, folder, name));
  yield;
}

/** Across file systems it copies beside the target, which is never half-written. */
function move(from: string, folder: string, name: string): void {
  try {
    renameSync(from, `${folder}/${name}`);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EXDEV") throw thrown;
    const temporary = `${folder}/${temporaryName()}`;
    cpSync(from, temporary, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    renameSync(temporary, `${folder}/${name}`);
  }
}

const drop = (root: Root, path: RelPath) =>
  root.withParent(path, (folder, name) => rmSync(`${folder}/${name}`, { recursive: true, force: true }));

/** Removes special files, overlay attributes and set-user-ID bits, by names as bytes, which may not be UTF-8. */
function* clean(folder: string): Steps<void> {
  const waiting = [Buffer.from(folder)];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    dropMarks(at);
    for (const name of readdirSync(at, { encoding: "buffer" })) {
      const path = Buffer.concat([at, Buffer.from("/"), name]);
      const stat = lstatSync(path);
      yield;
      if (stat.isDirectory()) waiting.push(path);
      else if (stat.isFile()) cleanFile(path, stat);
      else if (!stat.isSymbolicLink()) rmSync(path);
    }
  }
}

function cleanFile(path: Buffer | string, { mode }: Stats): void {
  if ((mode & 0o6000) !== 0) chmodSync(path, mode & 0o1777);
  dropMarks(path);
}

function dropMarks(given: Buffer | string): void {
  const path = given.toString();
  // These attributes mean nothing outside an overlay, so they may stay on a name that is not UTF-8.
  const calls = Buffer.from(path).equals(Buffer.from(given)) ? systemCalls() : null;
  for (const name of calls?.listAttributes(path) ?? [])
    if (name.startsWith("user.overlay.")) calls?.removeAttribute(path, name);
}
