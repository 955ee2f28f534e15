/** Runs the user's checks once before the work, to show the results to the model and compare later ones with them. */
import type { CheckEvidence } from "../../core/command/check-output.ts";
import { PaiError } from "../../core/error.ts";
import type { Run } from "../run.ts";
import { userChecks } from "./check-list.ts";
import type { Baseline } from "./checking.ts";
import { leavesNothing, runCheck } from "./checks.ts";

/** The first word of a command, after variables that are set for it. */
const firstWord = (command: string) => /^(?:\s*\w+=\S*\s+)*\s*(\S*)/.exec(command)?.[1] ?? "";

/** Throws usage for a check that the shell could not start: most likely its name is mistyped. */
function refuseUnusable({ command, exit, output }: CheckEvidence): void {
  if ((exit !== 126 && exit !== 127) || firstWord(command).includes("/")) return;
  const why = output.trim().split("\n").at(-1) ?? "";
  throw new PaiError("usage", `the check cannot be run: ${command} (exit ${exit})${why === "" ? "" : `: ${why}`}`, {
    hint: "correct the command, or pass --no-baseline when the task is to make it work",
  });
}

function startBaseline(run: Run): Baseline {
  const results: CheckEvidence[] = [];
  const controller = new AbortController();
  const signal = AbortSignal.any([run.signal, controller.signal]);
  const work = (async () => {
    for (const check of userChecks(run.checking)) {
      const result = await runCheck(run, check, { when: "before", signal });
      refuseUnusable(result);
      results.push(result);
    }
    return results;
  })();
  // A failure reaches whoever awaits `work`; without this, it would be unhandled until somebody does.
  work.catch(() => {});
  return {
    results,
    finish: () => work,
    async stop() {
      controller.abort(new PaiError("interrupted", "the run ended before its checks"));
      await work.catch(() => {});
    },
  };
}

/** The baseline of a run, started at the first call; null: it has none, or one that only `openBaseline` may start. */
export function baselineOf(run: Run): Baseline | null {
  const { checking } = run;
  if (checking.checks.length === 0 || !checking.takesBaseline) return null;
  if (!leavesNothing(run)) checking.baseline ??= startBaseline(run);
  return checking.baseline;
}

/**
 * Starts the checks and waits for them as long as the first request may wait; slower ones go on in the background.
 * Throws usage for a check that cannot be run.
 */
export async function openBaseline(run: Run): Promise<void> {
  const { emit, changing, checking, planning, workspace } = run;
  if (checking.checks.length === 0 || !checking.takesBaseline) return;
  // On a throwaway copy checks may run even if nothing may stay.
  if (leavesNothing(run) && (await workspace.sandbox()).proposes) checking.baseline = startBaseline(run);
  else if (leavesNothing(run)) {
    const where = changing.dryRun ? "in a dry run" : planning.planOnly ? "for a plan alone" : "for a preview";
    const text = `checks are not run ${where} without a sandbox that works on a copy: ${checking.checks.join("; ")}`;
    emit({ type: "notice", level: "info", code: "checks_not_run", text });
  }
  const baseline = baselineOf(run);
  if (baseline === null) return;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const limit = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), checking.checkWaitMs);
  });
  try {
    if ((await Promise.race([baseline.finish(), limit])) !== "late") return;
  } finally {
    if (timer !== null) clearTimeout(timer);
  }
  const text = `the checks take longer than ${Math.round(checking.checkWaitMs / 1000)} s: planning begins without their results`;
  emit({ type: "notice", level: "info", code: "checks_late", text });
}
