/** Looks at files and folders without throwing: what is missing or refused is empty or null. */
import { accessSync, type Dirent, existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { orNull } from "../core/error.ts";

export function entriesOf(folder: string): readonly Dirent[] {
  return orNull(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}

/**
 * What is in a folder and those below it, upper ones first, with the folder's path from `top`; "": that itself. After
 * `most` entries no further folder is looked into.
 */
export function* entriesBelow(
  top: string,
  enters: (folder: string, entry: Dirent) => boolean,
  most: number,
): Generator<readonly [folder: string, entry: Dirent], void> {
  const waiting = [""];
  let left = most;
  for (let folder = waiting.shift(); folder !== undefined && left > 0; folder = waiting.shift()) {
    for (const entry of entriesOf(join(top, folder))) {
      left -= 1;
      yield [folder, entry];
      if (entry.isDirectory() && enters(folder, entry)) waiting.push(join(folder, entry.name));
    }
  }
}

export function namesOf(folder: string): readonly string[] {
  return orNull(() => readdirSync(folder)) ?? [];
}

/** The text of a file; for files of the kernel, which hide their length. */
export function textOfSystem(path: string): string {
  return orNull(() => readFileSync(path, "utf8")) ?? "";
}

export function realPathOf(path: string): string | null {
  return orNull(() => realpathSync(path));
}

export function mayUse(path: string, rights: number): boolean {
  try {
    accessSync(path, rights);
    return true;
  } catch {
    return false;
  }
}

/** The path itself if it is there, else the nearest folder above that is. */
export function nearestThere(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestThere(dirname(path));
}
