/** Why runs of a folder are not found: they are kept with another user. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "./command.ts";

/** Where runs of the folder `root` may be that are not found; null: nothing tells of others. */
export function findMissingRuns(root: string, env: Context["env"]): string | null {
  const user = env["SUDO_USER"] ?? "";
  if (!["", "root"].includes(user)) return `under sudo the runs of ${user} are not seen: take those back without sudo`;
  const uid = statSync(join(root, ".pai_history"), { throwIfNoEntry: false })?.uid;
  if (uid === undefined || uid === process.geteuid?.()) return null;
  return `uid ${uid} has run pai here: runs are kept with their user, who can take them back`;
}
