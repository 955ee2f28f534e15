/** Lists the checks of a run, and describes them for requests and for people. */
import { type CheckEvidence, type Comparison, renderComparison, tailOf } from "../../core/command/check-output.ts";
import { flagsToRun, grantsRun } from "../../core/command/run-patterns.ts";
import { fence } from "../../core/data-fence.ts";
import type { CheckResult } from "../../core/outcome.ts";
import type { Run, RunRecord } from "../run.ts";

export interface Check {
  readonly command: string;
  readonly by: "user" | "plan";
}

/** The checks that the user typed, or set for every run. */
export const userChecks = ({ options }: Run): readonly Check[] =>
  options.checks.map((command): Check => ({ command, by: "user" }));

/** The user's checks, then the plan's, each once. Checks that may not run here are recorded as not run. */
export function checksOf(run: Run): readonly Check[] {
  const { checks, interactive, allowRun } = run.options;
  const user = userChecks(run);
  const planned = (run.record.plan?.execution_plan?.checks ?? [])
    .map((command) => command.trim())
    .filter((command) => command !== "" && !checks.includes(command))
    .map((command): Check => ({ command, by: "plan" }));
  const withheld = interactive ? [] : planned.filter(({ command }) => !grantsRun(allowRun, command));
  if (withheld.length > 0) {
    const commands = withheld.map(({ command }) => command);
    const text = `checks of the plan not run (headless they need ${flagsToRun(commands)}): ${commands.join("; ")}`;
    run.emit({ type: "notice", level: "info", code: "checks_not_run", text });
    run.record.checks = withheld.map((check) => ({ ...check, exit: null, ms: 0, passed: null }));
  }
  return [...user, ...planned.filter((check) => !withheld.includes(check))];
}

/** Whether checks have judged the run: some ran, all passed, and none of them changed what others had judged. */
export function isVerified({ checks, unsettled }: Pick<RunRecord, "checks" | "unsettled">): boolean {
  const ran = checks.filter(({ passed }) => passed !== null);
  return ran.length > 0 && unsettled.length === 0 && ran.every(({ passed }) => passed);
}

/** A failed check in one line for people: the message of the run's failure. */
export function describeFailed(check: CheckResult & { readonly compared?: Comparison | null }): string {
  const compared = renderComparison(check.compared ?? null);
  return `check failed: ${check.command} (exit ${check.exit ?? "none"}${compared === "" ? "" : `, ${compared}`})`;
}

/** A check with the end of its output, for the model, with a note. */
export function describeCheck({ command, exit, output, ...rest }: CheckEvidence, note = ""): string {
  const compared = "compared" in rest ? renderComparison(rest.compared as Comparison | null) : "";
  const said = [compared, note].filter((text) => text !== "").join("; ");
  return fence("check", { command, exit: String(exit), ...(said === "" ? {} : { note: said }) }, tailOf(output));
}

/** The results of the user's checks before the work, for a request; "": there are no checks. */
export function renderBaseline({ options, record }: Run): string {
  if (options.checks.length === 0) return "";
  const known = record.baseline?.results ?? [];
  const open = options.checks.filter((command) => !known.some((check) => check.command === command));
  const described = known.map((check) => describeCheck(check, check.passed === true ? "passes" : "fails"));
  const lines = open.map((command) => `- ${command}`);
  const head =
    known.length > 0 ? "Checks of the user, before any change; pai runs them again at the end (no RUN needed):" : "";
  const rest =
    lines.length === 0 ? "" : `Checks of the user, which pai runs at the end (no RUN needed):\n${lines.join("\n")}`;
  return [head, ...described, rest].filter((part) => part !== "").join("\n");
}
