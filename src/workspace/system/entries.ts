/** What lies in a folder. */
import { type Dirent, readdirSync } from "node:fs";

/** Its entries, in no order; none where it is not a folder, or may not be read. */
export function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
