/** A folder that pai refuses as a project: at a terminal it asks, and a question may be asked of it in any case. */

import { quoteForShell } from "../../core/command/quote.ts";
import { PaiError } from "../../core/error.ts";
import { realPathOf } from "../../system/lookups.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import { judgeRoot } from "../../workspace/path-policy.ts";
import type { ReadLine } from "../config/key-entry.ts";
import type { Base } from "./base.ts";

/** Why the working folder is no project, as a clause; null: it is one, or the user said so before. */
export function whyNoProject(
  { root, places, context }: Base,
  isForced = context.flags.forceRoot === true,
): string | null {
  const real = realPathOf(root) ?? root;
  const home = places.home === null ? null : (realPathOf(places.home) ?? places.home);
  return isForced ? null : judgeRoot(real, home);
}

/** What the next command in this folder needs: a folder that pai worked in by force needs it again. */
export const rootFlag = (base: Base): string => (whyNoProject(base, false) === null ? "" : " --force-root");

const forced = (base: Base): Base => ({
  ...base,
  context: { ...base.context, flags: { ...base.context.flags, forceRoot: true } },
});

/** `task`: what was typed, to be asked instead; null: a session. */
interface Asked {
  readonly task: string | null;
  /** null: nobody can be asked. */
  readonly readLine: ReadLine | null;
}

const maxTask = 200;

/** The base to go on with where the folder is no project. Throws root_refused if nobody can be asked, and declined. */
export async function settleRoot(base: Base, { task, readLine }: Asked): Promise<Base> {
  const why = whyNoProject(base);
  if (why === null) return base;
  if (base.asksOnly === true) return forced(base);
  const where = `${visibleLine(base.root)} ${why}`;
  if (readLine === null) {
    const instead =
      task === null ? "" : `; to look and change nothing: pai ask ${quoteForShell(task.slice(0, maxTask))}`;
    throw new PaiError("root_refused", where, {
      hint: `start in the folder of a project, or pass --force-root${instead}`,
    });
  }
  const choices = task === null ? "y or n" : "y, n, or a: only look and answer, as pai ask does";
  const said = (await readLine(`${where}: work here all the same? ${choices}: `))?.trim().toLowerCase() ?? "";
  if (/^(?:y|yes)$/.test(said)) return forced(base);
  if (task !== null && /^(?:a|ask)$/.test(said)) return { ...forced(base), asksOnly: true };
  throw new PaiError("declined", "nothing was done", { hint: "start in the folder of a project" });
}
