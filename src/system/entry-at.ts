/** Looks what stands at a path. */
import { lstatSync, type Stats } from "node:fs";

/**
 * A link counts as itself. undefined: nothing stands there, and nothing can where a part of the path is a file or a device,
 * such as a home `/dev/null`. Throws what else the system refuses: at a path that is too long something may stand.
 */
export function entryAt(path: string): Stats | undefined {
  try {
    // Without an error for a missing entry: one is slow to make.
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw thrown;
  }
}
