/** Checks whether a path can be written at all, before a model call is paid for. */
import { accessSync, constants, existsSync, lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { PaiError, toPaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import { showName } from "./parse-path.ts";

/**
 * The number of the user to whom a file belongs and would no longer belong once it is replaced; null: the owner stays, or
 * there is no such file. `as`: who pai runs as; root keeps every owner.
 */
export function lostOwner(root: string, path: RelPath, as: number): number | null {
  const stat = as === 0 ? undefined : lstatSync(join(root, path), { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.uid !== as ? stat.uid : null;
}

/**
 * A file is replaced in its folder, and missing folders are made in the nearest existing one. Throws read_only or
 * permission_denied if that folder is not writable.
 */
export function requireWritable(root: string, path: RelPath): void {
  let folder = dirname(path);
  while (folder !== "." && !existsSync(join(root, folder))) folder = dirname(folder);
  try {
    accessSync(join(root, folder), constants.W_OK);
  } catch (cause) {
    const { code } = toPaiError(cause);
    if (code !== "read_only" && code !== "permission_denied") return;
    const where = folder === "." ? "the project" : showName(folder);
    const [why, hint] =
      code === "read_only"
        ? ["on a disk that is read-only", "make it writable, then try again"]
        : ["closed to this user for writing", "give this user the right to write there, then try again"];
    throw new PaiError(code, `${showName(path)} cannot be written: ${where} is ${why}`, { hint, cause });
  }
}

/** What keeps the user `as` from changing this root, or makes new files another user's, in words; none: it is his own. */
export function whyNotOwn(root: string, as: number): readonly string[] {
  try {
    accessSync(root, constants.W_OK);
  } catch (cause) {
    const { code } = toPaiError(cause);
    if (code === "read_only") return ["the project is on a disk that is read-only: it can be read, not changed"];
    if (code === "permission_denied") return ["the project is closed to this user for writing, at least at its top"];
  }
  const owner = lstatSync(root, { throwIfNoEntry: false })?.uid ?? as;
  return owner === as ? [] : [`the project belongs to another user (uid ${owner}): new files will belong to you`];
}
