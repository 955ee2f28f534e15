/** Where what pai keeps of one workspace lies. */
import { basename, join } from "node:path";
import { digest } from "../../core/digest.ts";

/** Each workspace has its own folder, named so that people recognise it. `root` is its real path. */
export function stateFolderOf(root: string, stateDir: string): string {
  const name = basename(root).replace(/[^\w.-]/g, "_");
  return join(stateDir, `${name.slice(0, 100)}-${digest(root).slice(0, 12)}`);
}
