/** Why runs of a folder are not found: they are kept with another user, or in another home. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { namesOf, textOfSystem } from "../system/lookups.ts";
import type { Context } from "./command.ts";

/** Newest logs that are read. */
const maxLogs = 20;

/** The newest run of the readable log that changed something and is not among these. null: none, or no log can be read. */
function loggedRun(folder: string, known: ReadonlySet<string>): string | null {
  const logs = namesOf(folder).filter((name) => name.endsWith(".log"));
  for (const name of logs.toSorted().reverse().slice(0, maxLogs)) {
    const text = textOfSystem(join(folder, name));
    const id = /^\[[^\]]*\] SESSION run (\S+),/m.exec(text)?.[1];
    if (id !== undefined && !known.has(id) && /^\[[^\]]*\] CHANGE kept: /m.test(text)) return id;
  }
  return null;
}

/** Where runs of the folder `root` may be, of which only `known` are found; null: nothing tells of others. */
export function findMissingRuns(root: string, env: Context["env"], known: ReadonlySet<string>): string | null {
  const user = env["SUDO_USER"] ?? "";
  if (!["", "root"].includes(user)) return `under sudo the runs of ${user} are not seen: take those back without sudo`;
  const folder = join(root, ".pai_history");
  const uid = statSync(folder, { throwIfNoEntry: false })?.uid;
  if (uid === undefined) return null;
  if (uid !== process.geteuid?.())
    return `uid ${uid} has run pai here: runs are kept with their user, who can take them back`;
  const run = loggedRun(folder, known);
  return run === null
    ? null
    : `.pai_history names run ${run}, which is kept in another home (set HOME as it was then), forgotten, or not trusted`;
}
