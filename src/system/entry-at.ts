/** Finds the entry at a path. */

import { lstatSync, type Stats } from "node:fs";
import { unless } from "../core/error.ts";

/**
 * Stats of the entry; a link is not followed. undefined: it does not exist, or a parent is a file or a device, as below a
 * home of `/dev/null`. Throws the system's other errors: an entry may exist whose path is too long for one call.
 */
export const entryAt = (path: string): Stats | undefined =>
  // Without an error for a missing entry: one is slow to make.
  unless(["ENOTDIR"], () => lstatSync(path, { throwIfNoEntry: false }));
