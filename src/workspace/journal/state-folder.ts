/** The path of the state folder of a workspace. */
import { basename, join } from "node:path";
import { digest } from "../../core/digest.ts";

/** One folder for each workspace, with a name that people recognise. `root` is its real path. */
export function stateFolderOf(root: string, stateDir: string): string {
  const name = basename(root).replace(/[^\w.-]/g, "_");
  return join(stateDir, `${name.slice(0, 100)}-${digest(root).slice(0, 12)}`);
}
