/** Enters folders one by one through /proc/self/fd, so that no link is followed and no rename misleads. */
import { closeSync } from "node:fs";
import { joinPath, type RelPath } from "../../core/path.ts";
import { openFolderAt } from "./open-at.ts";

/** An open folder: `${at}/${name}` is a path in it, whatever its own path leads to by now. */
export interface Handle {
  readonly at: string;
  close(): void;
}

export const handleOf = (fd: number): Handle => ({ at: `/proc/self/fd/${fd}`, close: () => closeSync(fd) });

/**
 * A folder below another; null: missing. `path` is relative to `from`; `shown` is the name of `from` in messages.
 * Throws path_refused for a link, file_unusable for what is not a folder.
 */
export function enterFolder(from: Handle, path: RelPath, shown: RelPath): Handle | null {
  let handle: Handle | null = null;
  let done = shown;
  try {
    for (const part of path.split("/")) {
      done = joinPath(done, part);
      const fd = openFolderAt((handle ?? from).at, part, done);
      handle?.close();
      handle = fd === null ? null : handleOf(fd);
      if (handle === null) return null;
    }
    return handle;
  } catch (thrown) {
    handle?.close();
    throw thrown;
  }
}
