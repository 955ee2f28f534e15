/** `pai apply`: carries out a saved plan on files that have not changed since. */

import { resolve } from "node:path";
import { quoteForShell } from "../../core/command/quote.ts";
import { grantsRun } from "../../core/command/run-patterns.ts";
import { PaiError } from "../../core/error.ts";
import type { Run } from "../../flows/run.ts";
import { followPlan } from "../../flows/single-shot.ts";
import { createReplayModel } from "../../models/replay.ts";
import type { Context } from "../command.ts";
import { onlyFlag } from "../flag-values.ts";
import { changesOfPlan, readPlanFile, requireBase, type SavedPlan } from "../plan-file.ts";
import { readText } from "../read-text.ts";
import { doTask } from "./task.ts";

/** Says with which checks and --then the change was made elsewhere: none of them runs unless it is typed here. */
function tellMade({ emit, checking, ending }: Run, { checks, file: { made } }: SavedPlan): void {
  if (made === null) return;
  const flags = [
    ...checks.filter((check) => !checking.checks.includes(check)).map((check) => ["--check", check] as const),
    ...made.after.filter((each) => !ending.after.commands.includes(each)).map((each) => ["--then", each] as const),
  ].map(([flag, command]) => `${flag} ${quoteForShell(command)}`);
  if (flags.length === 0) return;
  const text = `commands of ${made.by} are not run; to run them as your own: ${flags.join(" ")}`;
  emit({ type: "notice", level: "warning", code: "checks_not_run", text });
}

/**
 * Says that the plan file's checks will not run. Anybody can write such a file, so without a terminal its checks need
 * --allow-run, unlike checks that the user typed.
 */
function tellChecks({ emit, checking, interactive, shell }: Run, saved: readonly string[]): void {
  const foreign = saved.filter((check) => !checking.checks.includes(check) && !grantsRun(shell.allowRun, check));
  if (foreign.length === 0 || interactive) return;
  const typed = foreign.map((check) => `--check ${quoteForShell(check)}`).join(" ");
  const text = `checks of the plan file are not run; to run them as your own: ${typed}`;
  emit({ type: "notice", level: "warning", code: "checks_not_run", text });
}

export async function applyCommand(context: Context): Promise<number> {
  const [name, ...more] = context.words;
  if (name === undefined || more.length > 0)
    throw new PaiError("usage", "pai apply takes one plan file", { hint: "pai apply -y plan.json" });
  const saved = readPlanFile(await readText(resolve(context.cwd, name), "plan file", context.signal), name);
  const only = onlyFlag(context.flags);
  return doTask(context, {
    command: "apply",
    model: saved.file.changes === null ? null : createReplayModel([], "saved edits"),
    task: async () => ({ text: saved.task, history: [], context: null }),
    options: {
      only: [saved.only, only].filter((globs) => globs.length > 0),
    },
    flow: async (run) => {
      const { workspace } = run;
      if (saved.file.made === null) tellChecks(run, saved.checks);
      tellMade(run, saved);
      const how = { merge: context.flags.merge === true };
      await requireBase(workspace, saved, how);
      await followPlan(saved.plan, await changesOfPlan(workspace, saved, how))(run);
    },
  });
}
