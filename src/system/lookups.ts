/** Looks at files and folders without throwing: what is missing or refused is empty or null. */
import { accessSync, type Dirent, existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { orNull } from "../core/error.ts";

/** The entries of a folder, unsorted. */
export function entriesOf(folder: string): readonly Dirent[] {
  return orNull(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}

/** The names in a folder, unsorted. */
export function namesOf(folder: string): readonly string[] {
  return orNull(() => readdirSync(folder)) ?? [];
}

/** The text of a file; for files of the kernel, which hide their length. */
export function textOfSystem(path: string): string {
  return orNull(() => readFileSync(path, "utf8")) ?? "";
}

/** The path without links and `..`. */
export function realPathOf(path: string): string | null {
  return orNull(() => realpathSync(path));
}

/** Whether this user has these rights (`constants.W_OK`) at a path. */
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
