/** Takes changed ignored paths over from a copy into the workspace; no undo covers them. */
import { chmodSync, cpSync, lstatSync, lutimesSync, readdirSync, renameSync, rmSync, type Stats } from "node:fs";
import { join } from "node:path";
import { joinPath, type RelPath } from "../../core/path.ts";
import { pace, type Steps } from "../../core/steps.ts";
import { temporaryName } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import { systemCalls } from "../system/system-calls.ts";
import { isDeletion, isOpaqueFolder } from "./layer.ts";

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

/** Yields for each entry. */
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
  for (const name of calls?.listAttributes(path) ?? []) {
    if (name.startsWith("user.overlay.")) calls?.removeAttribute(path, name);
  }
}
