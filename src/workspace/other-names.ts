/** Links of the project: the other names that they give a path, and where one leads. */

import { type Dirent, lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { isBuiltFolder, type PathRules } from "../core/closed-names.ts";
import { orNull } from "../core/error.ts";
import { foldersAbove, joinPath, nameOf, type PathUse, parentOf, pathWithin, type RelPath } from "../core/path.ts";
import { entriesBelow, realPathOf } from "../system/lookups.ts";
import { isTemporary } from "./atomic-write.ts";
import { showName } from "./parse-path.ts";
import { judgePath } from "./path-policy.ts";

const maxLooks = 10_000;
/** Milliseconds: a command may make links, and thousands of paths are judged in a row. */
const freshMs = 100;

type Found = ReadonlyMap<RelPath, readonly RelPath[]>;

/** Finds the paths that lead to another one through a link of the project. `root`: its real path. */
export function openOtherNames(root: string): (path: RelPath) => readonly RelPath[] {
  let found: Found = new Map();
  let foundAt = Number.NEGATIVE_INFINITY;
  return (path) => {
    if (performance.now() - foundAt > freshMs) {
      found = findTargets(root);
      foundAt = performance.now();
    }
    return [path, ...foldersAbove(path)].flatMap((at) =>
      (found.get(at) ?? []).map((link) => `${link}${path.slice(at.length)}` as RelPath),
    );
  };
}

function findTargets(root: string): Found {
  const found = new Map<RelPath, RelPath[]>();
  for (const link of linksIn(root)) {
    const real = realPathOf(join(root, link));
    if (real === null || !real.startsWith(`${root}/`)) continue;
    const path = real.slice(root.length + 1) as RelPath;
    found.set(path, [...(found.get(path) ?? []), link]);
  }
  return found;
}

/** But not in folders that tools fill. */
function linksIn(root: string): readonly RelPath[] {
  const enters = (_: string, { name }: Dirent) => name !== ".git" && !isBuiltFolder(name);
  return [...entriesBelow(root, enters, maxLooks)].flatMap(([folder, entry]) =>
    entry.isSymbolicLink() && !isTemporary(entry.name) ? [joinPath(folder as RelPath, entry.name)] : [],
  );
}

/** As a clause; null: a change needs no yes of its own. */
export function whyAsked(path: RelPath, rules: PathRules, links: readonly RelPath[]): string | null {
  const verdict = judgePath(path, "write", rules);
  if (verdict.verdict === "ask") return verdict.why;
  for (const link of links) {
    const there = judgePath(link, "write", rules);
    if (there.verdict !== "allow") return `a link makes it ${showName(link)}, and ${there.why}`;
  }
  return null;
}

/** Itself where a link leads out of the roots, in a circle, or to nothing. `root` and `others`: real paths. */
export function followLinks(root: string, path: RelPath, use: PathUse, others: readonly string[] = []): RelPath {
  if (path === "") return path;
  const isThere = (at: RelPath): boolean => orNull(() => lstatSync(resolve(root, at))) !== null;
  /** null: it leads out, or nowhere. */
  const realOf = (at: RelPath): RelPath | null => {
    const real = realPathOf(resolve(root, at));
    if (real === null) return null;
    const isOutside = others.some((each) => pathWithin(real, each) !== null);
    return (pathWithin(real, root) ?? (isOutside ? real : null)) as RelPath | null;
  };
  /** Folders that do not exist yet keep their names. */
  const followParent = (at: RelPath): RelPath | null => {
    const parent = parentOf(at);
    if (parent === "") return at;
    const folder = isThere(parent) ? realOf(parent) : followParent(parent);
    return folder === null ? null : joinPath(folder, nameOf(at));
  };
  const isWhole = use !== "delete" && use !== "move";
  return (isWhole && isThere(path) ? realOf(path) : followParent(path)) ?? path;
}
