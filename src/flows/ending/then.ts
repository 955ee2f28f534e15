/** The user's commands after the work is proved (--then): a failure takes the work back. */
import { startedBy } from "../../core/command/command-files.ts";
import { PaiError } from "../../core/error.ts";
import { nameOf } from "../../core/path.ts";
import { isVerified } from "../checks/checks.ts";
import { leavesNothing } from "../checks/rights.ts";
import { hasOwnWork } from "../commands/commands.ts";
import type { Run } from "../run.ts";

const limitMs = 120_000;

/** Throws, before the work, usage where nothing could prove it, command_refused for a program that the run may change. */
export function requireThen({ checking, ending, interactive, shell, workspace }: Run): void {
  const { commands, unverified } = ending.after;
  if (commands.length === 0) return;
  for (const command of commands) {
    const own = workspace.ownProgram?.(command) ?? null;
    if (own === null) continue;
    const isStarted = startedBy(command).programs.some((each) => nameOf(each) === nameOf(own));
    const what = `it ${isStarted ? "starts" : "names"} ${own}, which this run may change`;
    throw new PaiError("command_refused", `--then ${command}: ${what}`, {
      hint: "name a program outside of the project",
    });
  }
  if (unverified || checking.checks.length > 0 || interactive || shell.allowRun !== false) return;
  throw new PaiError("usage", "--then runs only after a check has proved the change, and none is given", {
    hint: "add --check, or --then-unverified to run it all the same",
  });
}

/** Runs the commands in their order, while the changes can still be taken back. Throws then_failed for the first failure. */
export async function runThen(run: Run): Promise<void> {
  const { ending, emit } = run;
  const { commands, unverified } = ending.after;
  if (commands.length === 0 || leavesNothing(run)) return;
  const why = !hasOwnWork(run)
    ? "nothing was changed"
    : unverified || isVerified(run.checking)
      ? null
      : "no check has proved the change (--then-unverified runs it all the same)";
  if (why !== null) {
    emit({
      type: "notice",
      level: "warning",
      code: "then_not_run",
      text: `not run, as ${why}: ${commands.join("; ")}`,
    });
    return;
  }
  for (const command of commands) await runOne(run, command);
}

async function runOne(run: Run, command: string): Promise<void> {
  const { exit, ms, timedOut, output } = await run.workspace.runAfter(command, {
    timeoutMs: limitMs,
    signal: run.signal,
  });
  run.ending.ranThen = [...run.ending.ranThen, { command, exit, ms }];
  run.signal.throwIfAborted();
  if (exit === 0) {
    run.emit({ type: "notice", level: "info", code: "then", text: `${command}: exit 0, ${(ms / 1000).toFixed(1)} s` });
    return;
  }
  const how = timedOut ? `ended by the time limit of ${limitMs / 1000} s` : `exit ${exit ?? "none"}`;
  const said = run.veil.show(output).trim().split("\n").slice(-3).join("\n");
  throw new PaiError("then_failed", `${command}: ${how}${said === "" ? "" : `: ${said}`}`);
}

/** After the changes were taken back: runs the commands once more where the user asked for that, and reports how they end. */
export async function runThenAgain(run: Run, failure: PaiError | null): Promise<void> {
  const { commands, again } = run.ending.after;
  if (failure?.code !== "then_failed" || !again) return;
  for (const command of commands) {
    try {
      await runOne(run, command);
    } catch (thrown) {
      const text = `again, after the change was taken back: ${thrown instanceof Error ? thrown.message : command}`;
      run.emit({ type: "notice", level: "warning", code: "then_failed", text });
    }
  }
}
