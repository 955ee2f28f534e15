/** New folders that hold nothing but ignored paths: a cache with a `.gitignore` of its own is one thing, and nothing of the project. */
import type { Change } from "../../core/change.ts";
import type { RelPath } from "../../core/path.ts";
import { parentOf } from "../parse-path.ts";

/** What is left of changes and of new ignored paths when each such folder counts as one ignored path. */
export function foldIgnored(changes: readonly Change[], came: readonly RelPath[]) {
  const made = new Set(
    changes.flatMap(({ path, before, after }) => (before === null && after?.kind === "folder" ? path : [])),
  );
  const solid = new Set(changes.filter(({ path }) => !made.has(path)).flatMap(({ path }) => foldersAbove(path)));
  const folded = new Set(came.flatMap(foldersAbove).filter((folder) => made.has(folder) && !solid.has(folder)));
  /** The uppermost that the path is in, or is. */
  const foldOf = (path: RelPath) => [path, ...foldersAbove(path)].findLast((folder) => folded.has(folder));
  return {
    changes: changes.filter(({ path }) => foldOf(path) === undefined),
    came: [...new Set(came.map((path) => foldOf(path) ?? path))],
  };
}

/** From the nearest to the uppermost, without the root. */
function foldersAbove(path: RelPath): readonly RelPath[] {
  const above: RelPath[] = [];
  for (let at = parentOf(path); at !== ""; at = parentOf(at)) above.push(at);
  return above;
}
