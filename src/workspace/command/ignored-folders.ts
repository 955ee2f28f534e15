/** Treats a new folder of ignored paths only, such as a cache with its own `.gitignore`, as one ignored path. */
import type { Change } from "../../core/change.ts";
import { parentOf, type RelPath } from "../../core/path.ts";

/** The changes and new ignored paths, with each such folder replaced by one ignored path. */
export function foldIgnored(changes: readonly Change[], came: readonly RelPath[]) {
  const made = new Set(
    changes.flatMap(({ path, before, after }) => (before === null && after?.kind === "folder" ? path : [])),
  );
  const solid = new Set(changes.filter(({ path }) => !made.has(path)).flatMap(({ path }) => foldersAbove(path)));
  const folded = new Set(came.flatMap(foldersAbove).filter((folder) => made.has(folder) && !solid.has(folder)));
  /** The uppermost folded folder that contains the path or is the path. */
  const foldOf = (path: RelPath) => [path, ...foldersAbove(path)].findLast((folder) => folded.has(folder));
  return {
    changes: changes.filter(({ path }) => foldOf(path) === undefined),
    came: [...new Set(came.map((path) => foldOf(path) ?? path))],
  };
}

/** Folders above a path, nearest first, without the root. */
function foldersAbove(path: RelPath): readonly RelPath[] {
  const above: RelPath[] = [];
  for (let at = parentOf(path); at !== ""; at = parentOf(at)) above.push(at);
  return above;
}
