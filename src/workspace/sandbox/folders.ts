/** What folders hold, by their paths. */
import { join } from "node:path";
import { entriesOf } from "../../system/lookups.ts";
import type { Hidden } from "./confinement.ts";

export const contains = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** Without those that lie in another. */
export const outermost = (folders: readonly string[]): readonly string[] =>
  folders.filter((each) => !folders.some((other) => other !== each && contains(other, each)));

const programs = ["/usr", "/bin", "/sbin", "/lib", "/lib64"];
const systemFolders = [...programs, "/etc", "/proc", "/sys", "/tmp"];

/** Of programs, or holds a folder of the system. */
export const isSystemPath = (path: string): boolean =>
  path === "/" ||
  programs.some((folder) => contains(folder, path)) ||
  systemFolders.some((folder) => contains(path, folder));

/** Of a hidden folder above it everything else stays hidden. */
export function openUp(hidden: readonly Hidden[], open: string): readonly Hidden[] {
  return hidden.flatMap((each): readonly Hidden[] => {
    if (contains(open, each.path)) return [];
    if (!each.isFolder || !contains(each.path, open)) return [each];
    const children = entriesOf(each.path).map((entry) => ({
      path: join(each.path, entry.name),
      isFolder: entry.isDirectory(),
    }));
    return openUp(children, open);
  });
}
