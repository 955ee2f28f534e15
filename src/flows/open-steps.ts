/** Planned steps that the script leaves out: those that the model withdraws with SKIP, and commands that pai then runs itself. */

import { approvalWording } from "../core/approval-wording.ts";
import type { Call } from "../core/model.ts";
import { type Plan, type PlanStep, workOf } from "../core/plan/plan.ts";
import type { Rights } from "../core/plan/scope.ts";
import { commandOf, renderStepTarget } from "../core/plan/scope.ts";
import { splitPath } from "../core/script/header.ts";
import type { Script } from "../core/script/script.ts";
import { rowOf } from "../core/vocabulary.ts";
import { mayRunCommand } from "./commands/commands.ts";
import { hasDone } from "./ending/settle.ts";
import { type BatchReport, perform } from "./perform.ts";
import type { Progress } from "./progress.ts";
import type { Run } from "./run.ts";

interface Withdrawal {
  readonly step: PlanStep;
  readonly why: string;
}

const bare = (path: string) => path.replace(/^(?:\.\/)+/, "").replace(/\/$/, "");

/** The steps that `SKIP::text` names, with the reason: what follows the longest target that fits. */
function readSkip(text: string, steps: readonly PlanStep[]): readonly Withdrawal[] {
  const action = /^([A-Z_]+)::/.exec(text);
  const rest = action !== null && rowOf(action[1] ?? "") !== null ? text.slice(action[0].length) : text;
  const spelled = ({ target, destination }: PlanStep) => [
    ...(destination === null ? [] : [`${target}::${destination}`]),
    target,
  ];
  const { path, after } = splitPath(rest);
  const found = steps.flatMap((step) => {
    const target = spelled(step).find((each) => rest === each || rest.startsWith(`${each}::`));
    if (target !== undefined) return [{ step, why: rest.slice(target.length + 2).trim(), length: target.length }];
    return bare(path) === bare(step.target) ? [{ step, why: (after ?? "").trim(), length: 0 }] : [];
  });
  const longest = Math.max(0, ...found.map(({ length }) => length));
  return found.filter(({ length }) => length === longest);
}

/** Why nobody but a person may leave the step out; null: the model may. */
function whyNeeded(run: Run, { action }: PlanStep): string | null {
  if (run.changing.strict) return "the run is strict (--strict)";
  const { kind, right } = rowOf(action) ?? {};
  if (run.interactive || (kind !== "command" && right !== "delete")) return null;
  return "it was allowed, and nobody can be asked to leave it out";
}

/** Withdraws the steps, at a terminal after a question. Returns those that a person wants done. */
async function withdraw(run: Run, progress: Progress, skips: readonly Withdrawal[]): Promise<readonly PlanStep[]> {
  if (skips.length === 0) return [];
  const lines = skips.map(({ step, why }) => `${step.action} ${renderStepTarget(step)}: ${why || "no reason given"}`);
  const asked = run.interactive && !run.changing.dryRun;
  const decision = asked ? await run.decide({ kind: "amend", text: approvalWording.skips(lines) }) : null;
  if (decision?.accept === false) return skips.map(({ step }) => step);
  for (const line of lines)
    run.emit({ type: "notice", level: "warning", code: "step_skipped", text: `left out of the plan: ${line}` });
  const agreed = decision?.by === "user";
  for (const { step, why } of skips) {
    progress.withdraw(step);
    const { action } = step;
    run.ending.skipped = [...run.ending.skipped, { action, target: renderStepTarget(step), why, agreed }];
  }
  return [];
}

/** A message of fewer words, such as "Done.", is no reason. */
const minReason = 3;

/** Takes a FINISH alone, with a message, as the reason why the rest is left out, once something is done. */
async function takeFinish(run: Run, script: Script, progress: Progress): Promise<void> {
  const [only, ...more] = script.actions;
  const why = (only?.arg ?? "").split("\n", 1)[0]?.trim() ?? "";
  if (only === undefined || more.length > 0 || rowOf(only.cmd)?.kind !== "finish") return;
  if (why.split(/\s+/).length < minReason) return;
  if (progress.failure !== null || !hasDone(run)) return;
  const open = progress.openSteps.filter((step) => rowOf(step.action)?.kind === "change");
  await withdraw(
    run,
    progress,
    open.filter((step) => whyNeeded(run, step) === null).map((step) => ({ step, why })),
  );
}

/** Takes the SKIP lines of a reply whose calls are absorbed, or its FINISH alone. Returns notes for the model. */
export async function takeSkips(run: Run, plan: Plan, script: Script, progress: Progress): Promise<readonly string[]> {
  const notes: string[] = [];
  const wanted = new Map<PlanStep, string>();
  for (const { cmd, arg = "" } of script.actions) {
    if (rowOf(cmd)?.kind !== "skip") continue;
    const named = readSkip(arg, workOf(plan));
    const open = named.filter(({ step }) => progress.openSteps.includes(step));
    if (named.length === 0) notes.push(`SKIP ${arg}: the plan has no such step`);
    else if (open.length === 0) notes.push(`SKIP ${arg}: nothing is left to do for it`);
    for (const { step, why } of open) {
      const needed = whyNeeded(run, step);
      if (needed === null) wanted.set(step, why);
      else notes.push(`SKIP ${arg}: do this step: ${needed}`);
    }
  }
  await takeFinish(run, script, progress);
  const kept = await withdraw(
    run,
    progress,
    [...wanted].map(([step, why]) => ({ step, why })),
  );
  return [...notes, ...kept.map((step) => `SKIP ${step.target}: the user wants this step done`)];
}

/** Whether a command's place in the plan is behind all changes. */
const isBehind = (steps: readonly PlanStep[], at: number) =>
  steps.slice(at + 1).every(({ action }) => rowOf(action)?.kind !== "change");

/** Runs the planned commands that no reply ran, unless changes should have followed them; null: there are none. */
export async function runLeftOut(
  run: Run,
  plan: Plan,
  rights: Rights,
  open: readonly PlanStep[],
): Promise<BatchReport | null> {
  const steps = workOf(plan);
  const calls = steps.flatMap((step, at): readonly Call[] => {
    if (!open.includes(step) || rowOf(step.action)?.kind !== "command" || !isBehind(steps, at)) return [];
    if (!mayRunCommand(run, commandOf(step.action, step.target))) return [];
    const input = rowOf(step.action)?.form === "path" ? { path: step.target } : { command: step.target };
    return [{ id: `left.${at + 1}`, name: step.action, input }];
  });
  if (calls.length === 0) return null;
  const text = `the reply left out what the plan runs: ${calls.map(({ name, input }) => `${name} ${Object.values(input as object)[0]}`).join("; ")}`;
  run.emit({ type: "notice", level: "info", code: "command_left_out", text });
  return perform(run, calls, rights);
}
