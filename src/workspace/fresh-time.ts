/** Gives new content a modification time in a second that the path never had, so that build tools notice it. */
import type { RelPath } from "../core/path.ts";
import type { Root } from "./confine.ts";
import type { Stat } from "./system/stat.ts";

/*
 * Tools with a cache compare a file's modification time, many only in whole seconds: Python and pytest use second and
 * size, make, cargo and ninja whether the source is newer than the output, jest and eslint the exact time. A file that is
 * replaced by one of the same size in the same second would be taken for the old one, and a check would test code that
 * no longer exists. So new content gets a second that is later than any that the path had before and than the end of any
 * command of this process. ccache and tsc compare contents and need no help.
 */

/** By path and, under "", by any command. */
const latest = new WeakMap<Root, Map<RelPath | "", number>>();

function secondsOf(root: Root): Map<RelPath | "", number> {
  const known = latest.get(root) ?? new Map<RelPath | "", number>();
  latest.set(root, known);
  return known;
}

function raise(root: Root, key: RelPath | "", second: number): void {
  const seconds = secondsOf(root);
  seconds.set(key, Math.max(second, seconds.get(key) ?? 0));
}

const now = () => Date.now() / 1000;

export function noteReplaced(root: Root, path: RelPath, seen: Stat | null): void {
  if (seen?.kind === "file") raise(root, path, Number(seen.mtimeNs / 1_000_000_000n));
}

/** Its output has at most this second. */
export function noteCommandEnd(root: Root): void {
  raise(root, "", Math.floor(now()));
}

/** In seconds since 1970: now, or the next unused second. */
export function freshTime(root: Root, path: RelPath): number {
  const seconds = secondsOf(root);
  const taken = Math.max(seconds.get(path) ?? 0, seconds.get("") ?? 0);
  const time = Math.floor(now()) > taken ? now() : taken + 1;
  seconds.set(path, Math.floor(time));
  return time;
}
