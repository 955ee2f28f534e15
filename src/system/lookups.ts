/** Looks at files and folders without throwing: what is missing or refused is empty or null. */
import { type Dirent, readdirSync, readFileSync, realpathSync } from "node:fs";

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

function orNull<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}
