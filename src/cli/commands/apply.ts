/** `pai apply`: carries out a saved plan on files that have not changed since. */

import { resolve } from "node:path";
import { quoteForShell } from "../../core/command/quote.ts";
import { grantsRun } from "../../core/command/run-patterns.ts";
import { PaiError } from "../../core/error.ts";
import type { Run } from "../../flows/run.ts";
import { followPlan } from "../../flows/single-shot.ts";
import { createReplayModel } from "../../models/open.ts";
import type { Context } from "../command.ts";
import { onlyFlag } from "../flag-values.ts";
import { changesOfPlan, readPlanFile, requireBase, type SavedPlan } from "../plan-file.ts";
import { readText } from "../read-text.ts";
import { doTask } from "./task.ts";

/**
 * Names the commands of the file that do not run: anybody can write such a file. Checks of a plan may run with
 * --allow-run or after a question; those of a change from elsewhere, and its --then, only where they are typed.
 */
function tellNotRun({ emit, checking, ending, interactive, shell }: Run, { file: { checks, made } }: SavedPlan): void {
  const mayRun = (check: string) => made === null && (interactive || grantsRun(shell.allowRun, check));
  const foreign = checks.filter((check) => !checking.checks.includes(check) && !mayRun(check));
  const after = made?.after.filter((each) => !ending.after.commands.includes(each)) ?? [];
  const flags = [
    ...foreign.map((check) => `--check ${quoteForShell(check)}`),
    ...after.map((each) => `--then ${quoteForShell(each)}`),
  ];
  if (flags.length === 0) return;
  const what = made === null ? "checks of the plan file" : `commands of ${made.by}`;
  const text = `${what} are not run; to run them as your own: ${flags.join(" ")}`;
  emit({ type: "notice", level: "warning", code: "checks_not_run", text });
}

export async function applyCommand(context: Context): Promise<number> {
  const [name, ...more] = context.words;
  if (name === undefined || more.length > 0)
    throw new PaiError("usage", "pai apply takes one plan file", { hint: "pai apply -y plan.json" });
  const saved = readPlanFile(await readText(resolve(context.cwd, name), "plan file", context.signal), name);
  const { file } = saved;
  return doTask(context, {
    command: "apply",
    model: file.changes === null ? null : createReplayModel([], "saved edits"),
    task: { text: file.task, history: [], context: null },
    options: { only: [file.only, onlyFlag(context.flags)].filter((globs) => globs.length > 0) },
    flow: async (run) => {
      const { workspace } = run;
      run.ledger.promise({ expected: 0, at_most: 0 });
      tellNotRun(run, saved);
      const merge = context.flags.merge === true;
      await requireBase(workspace, saved, merge);
      await followPlan(saved.plan, await changesOfPlan(workspace, saved, merge))(run);
    },
  });
}
