/** Reads the instructions for agents that lie outside of the project's folder: the user's own, and those of the repository above it. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ReadOptions } from "../../flows/briefing/reading.ts";

type OuterGuide = NonNullable<ReadOptions["guides"]>[number];

const names = ["AGENTS.md", "CLAUDE.md"] as const;
/** Bytes of one file; of all together a request shows 8 KB. */
const maxBytes = 16 * 1024;
/** Folders above the project that are looked at for the root of its repository. */
const maxAbove = 16;

/** The text of a regular file that is the user's or the system's; null: there is none. `follows`: a link may lead to it. */
function readText(path: string, follows: boolean): string | null {
  let file: number | null = null;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | (follows ? 0 : constants.O_NOFOLLOW));
    const stat = fstatSync(file);
    if (!stat.isFile() || !isOwn(stat)) return null;
    const bytes = Buffer.alloc(maxBytes);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, maxBytes, 0)).replace(/\uFFFD$/, "");
  } catch {
    // Missing or unreadable: there are no instructions.
    return null;
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** Whether it is this user's or the system's: nobody else may give an agent instructions. */
const isOwn = ({ uid }: { readonly uid: number }) => uid === 0 || uid === process.getuid?.();

/** The folders above `root` up to that of its repository, outermost first; none: it is that folder, or in no repository. */
function foldersAbove(root: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = root, count = 0; count <= maxAbove; count += 1) {
    if (folder !== root) folders.unshift(folder);
    const stat = lstatSync(join(folder, ".git"), { throwIfNoEntry: false });
    if (stat !== undefined) return isOwn(stat) ? folders : [];
    if (dirname(folder) === folder) break;
    folder = dirname(folder);
  }
  return [];
}

/** The user's own guide first, then from the root of the repository down to the folder above `root`. */
export function readOuterGuides(configDir: string | null, root: string): readonly OuterGuide[] {
  const own = configDir === null ? null : join(configDir, names[0]);
  const ownText = own === null ? null : readText(own, true);
  const above = foldersAbove(root).flatMap((folder): OuterGuide[] => {
    for (const name of names) {
      const path = join(folder, name);
      const text = readText(path, false);
      if (text !== null) return [{ path, text }];
    }
    return [];
  });
  return [...(own === null || ownText === null ? [] : [{ path: own, text: ownText }]), ...above];
}
