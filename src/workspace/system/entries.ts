/** The entries of a folder. */
import { type Dirent, readdirSync } from "node:fs";

/** Unsorted; empty if it is not a folder or may not be read. */
export function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
