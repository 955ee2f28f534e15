/** Puts the staged changes of a run into the upper layer of an overlay, so that a command sees them. */
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Change } from "../../core/change.ts";
import { PaiError } from "../../core/error.ts";
import { parentOf, type RelPath } from "../../core/path.ts";
import { cString, openLibc } from "../../system/libc.ts";
import type { Root } from "../confine.ts";

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
