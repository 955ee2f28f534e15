/** Runs the checks of a run, before and after its changes; only what got worse counts against it. */

import { fence } from "../core/data-fence.ts";
import { PaiError } from "../core/error.ts";
import type { CheckResult } from "../core/outcome.ts";
import { requireBound, runInWorkspace } from "./approve-command.ts";
import { judgeCommand } from "./batch.ts";
import type { Run } from "./run.ts";

export interface Check {
  readonly command: string;
  readonly by: "user" | "plan";
}

export interface CheckReport extends CheckResult {
  readonly output: string;
  /** It fails the run: typed by the user, or it passed before. */
  readonly fatal: boolean;
}

/** A failed check in one line, for people: the failure that a run ends with. */
export const describeFailed = ({ command, exit }: CheckResult): string =>
  `check failed: ${command} (exit ${exit ?? "none"})`;

/** A check with its output, for the model; `note` says what there is to know of it. */
export const describeCheck = ({ command, exit, output }: CheckReport, note: { readonly note?: string } = {}): string =>
  fence("check", { command, exit: String(exit), ...note }, output);

/** The user's checks first, then the plan's, each once. What may not run here is recorded as not run. */
export function checksOf(run: Run): readonly Check[] {
  const { checks, interactive, allowRun } = run.options;
  const user = checks.map((command): Check => ({ command, by: "user" }));
  const planned = (run.record.plan?.execution_plan?.checks ?? [])
    .map((command) => command.trim())
    .filter((command) => command !== "" && !checks.includes(command))
    .map((command): Check => ({ command, by: "plan" }));
  if (planned.length > 0 && !interactive && !allowRun) {
    const text = `checks of the plan not run (headless they need --allow-run): ${planned.map(({ command }) => command).join("; ")}`;
    run.emit({ type: "notice", level: "info", code: "checks_not_run", text });
    run.record.checks = planned.map((check) => ({ ...check, exit: null, ms: 0, passed: null }));
    return user;
  }
  return [...user, ...planned];
}

async function runCheck(
  run: Run,
  { command, by }: Check,
  when: "before" | "after",
): Promise<CheckResult & { output: string }> {
  if (by === "plan") await requireBound(run, command);
  const result = await runInWorkspace(run, command, {
    by,
    timeoutMs: run.options.checkTimeoutMs,
    unasked: by === "plan" && !run.options.interactive,
  });
  if (by === "user") for (const change of result.changes) run.record.byUser.add(change);
  const refused = by === "plan" ? await judgeCommand(run, null, result.changes) : null;
  if (refused !== null)
    run.emit({ type: "notice", level: "warning", code: refused.code, text: `${command}: ${refused.text}` });
  const couldRun = result.exit !== 126 && result.exit !== 127;
  const passed = couldRun || by === "user" ? result.exit === 0 : null;
  if (when === "before" && passed === false) tellWithheld(run, command, result.withheld ?? []);
  const check = { command, by, exit: result.exit, ms: result.ms, passed, output: result.output };
  run.emit({ type: "check.finished", when, ...check });
  return check;
}

/** A check that fails without a variable proves nothing: says which flag gives it. */
function tellWithheld(run: Run, command: string, names: readonly string[]): void {
  if (names.length === 0) return;
  const flags = names.map((name) => `--env ${name}`).join(" ");
  const text = `${command} fails and names ${names.join(", ")}, which commands do not get: ${flags} gives it to them`;
  run.emit({ type: "notice", level: "warning", code: "variable_withheld", text });
}

/** Which commands passed before anything was changed. */
export async function runBaseline(run: Run, checks: readonly Check[]): Promise<ReadonlySet<string>> {
  const passed = new Set<string>();
  for (const check of checks) if ((await runCheck(run, check, "before")).passed === true) passed.add(check.command);
  return passed;
}

/**
 * A run that changed nothing is judged by the user's checks all the same, unless they have run at its end already.
 * Throws check_failed.
 */
export async function decideUnchanged(run: Run): Promise<void> {
  const { options, record, begun } = run;
  const decided = record.checks.some(({ by }) => by === "user");
  if (options.dryRun || options.planOnly || decided || (begun?.changes.length ?? 0) > 0) return;
  const checks = options.checks.map((command): Check => ({ command, by: "user" }));
  const failed = (await runChecks(run, checks, new Set())).find(({ fatal }) => fatal);
  if (failed !== undefined) throw new PaiError("check_failed", describeFailed(failed));
}

/** Runs all checks on the changed tree and records them in the run. */
export async function runChecks(
  run: Run,
  checks: readonly Check[],
  baseline: ReadonlySet<string>,
): Promise<readonly CheckReport[]> {
  const reports: CheckReport[] = [];
  for (const check of checks) {
    const result = await runCheck(run, check, "after");
    reports.push({ ...result, fatal: result.passed === false && (check.by === "user" || baseline.has(check.command)) });
  }
  const notRun = run.record.checks.filter(({ command }) => !checks.some((check) => check.command === command));
  const ran = reports.map(({ command, by, exit, ms, passed }) => ({ command, by, exit, ms, passed }));
  run.record.checks = [...ran, ...notRun];
  return reports;
}
