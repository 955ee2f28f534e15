/** Where a path leads by links that stay in the root. What it finds is opened without following any link. */
import { lstatSync, realpathSync } from "node:fs";
import { joinPath, nameOf, type PathUse, parentOf, type RelPath } from "../core/path.ts";
import { pathWithin } from "./shown.ts";

/** The path without links; itself where one leads out of the root, in a circle, or to nothing. `root`: its real path. */
export function followLinks(root: string, path: RelPath, use: PathUse): RelPath {
  if (path === "" || path.startsWith("/")) return path;
  const isWhole = use !== "delete" && use !== "move";
  return (isWhole && isThere(root, path) ? realOf(root, path) : followParent(root, path)) ?? path;
}

const isThere = (root: string, path: RelPath): boolean => {
  try {
    return lstatSync(`${root}/${path}`, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
};

/** null: it leads out, or nowhere. */
function realOf(root: string, path: RelPath): RelPath | null {
  try {
    return pathWithin(realpathSync(`${root}/${path}`), root) as RelPath | null;
  } catch {
    return null;
  }
}

/** The path in the real folder that it is in; folders that do not exist yet keep their names. */
function followParent(root: string, path: RelPath): RelPath | null {
  const parent = parentOf(path);
  if (parent === "") return path;
  const folder = isThere(root, parent) ? realOf(root, parent) : followParent(root, parent);
  return folder === null ? null : joinPath(folder, nameOf(path));
}
