/** What lies in a folder. */
import { type Dirent, readdirSync } from "node:fs";

/** Its entries, in no order; none where it is no folder, or the system does not let us look. */
export function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
