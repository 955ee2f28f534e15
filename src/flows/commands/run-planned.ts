/** Runs a command of the model, and renders its result. */

import { grantsRun, whyNotRun } from "../../core/command/run-patterns.ts";
import { explainWall, tellOwn } from "../../core/command/sandbox.ts";
import type { Rights } from "../../core/plan/scope.ts";
import type { CommandResult } from "../../core/ports.ts";
import { isToolCall } from "../../core/tool-calls.ts";
import type { Refusal } from "../changes/judge.ts";
import { describeEnd, settleEffects } from "../effects.ts";
import type { Run } from "../run.ts";
import { mayRunCommand, requireBound, runInWorkspace } from "./approve-command.ts";

/** Why a command was not run, for the model. */
export const renderNotRun = ({ changing, shell }: Run) =>
  changing.dryRun ? "not run: this is a dry run" : `not run: ${whyNotRun(shell.allowRun)}`;

export interface Ran extends CommandResult {
  /** Why its changes were undone; null: they were kept. */
  readonly refused: Refusal | null;
  /** The time it had. */
  readonly limitMs: number;
}

/** In a dry run commands run only on a copy. */
async function mayRunNow(run: Run, promised: string): Promise<boolean> {
  const { changing, interactive, shell, workspace } = run;
  if (!changing.dryRun) return mayRunCommand(run, promised);
  return (interactive || grantsRun(shell.allowRun, promised)) && (await workspace.sandbox()).proposes;
}

/** Runs a command of the model; null: it may not run here. `promised`: the command as the plan spells it. */
export async function runPlanned(
  run: Run,
  rights: Rights | null,
  {
    command,
    promised = command,
    timeoutMs: limitMs = run.shell.commandTimeoutMs,
  }: { readonly command: string; readonly promised?: string; readonly timeoutMs?: number },
): Promise<Ran | null> {
  // A tool of a server acts outside of the workspace, where there is no copy.
  const isReal = run.changing.dryRun && isToolCall(command);
  if (isReal || !(await mayRunNow(run, promised))) {
    if (!run.changing.dryRun) run.acting.tally.withhold(command, whyNotRun(run.shell.allowRun));
    return null;
  }
  if (rights !== null) await requireBound(run, command);
  const result = await runInWorkspace(run, command, {
    by: "plan",
    timeoutMs: limitMs,
    unasked: !run.interactive,
    sandbox: "proposal",
    staged: run.overlay.kept(),
  });
  return { ...result, limitMs, refused: await settleEffects(run, rights, { ...result, command }) };
}

/** A command's result for the model: first how it ended, then its output. */
export function renderCommand({ exit, timedOut, output, ms, limitMs, refused, held }: Ran): string {
  const end = timedOut ? `ended by the time limit of ${limitMs / 1000} s` : describeEnd({ exit, timedOut });
  const back = refused === null ? "" : `; ${refused.text}`;
  const wall = explainWall(held.level, exit, output);
  const own = tellOwn(held.level, held.network);
  const first = `${end} after ${Math.round(ms)} ms${back}${wall === null ? "" : `; ${wall}`}`;
  return [first, ...(own === null ? [] : [own]), output].join("\n").trimEnd();
}
