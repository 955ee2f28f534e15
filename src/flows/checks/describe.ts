/** Describes checks, for requests and for people. */

import { type CheckEvidence, type Comparison, renderComparison, tailOf } from "../../core/command/check-output.ts";
import { fence } from "../../core/data-fence.ts";
import type { CheckResult } from "../../core/outcome.ts";
import type { Checking } from "./checking.ts";

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
export function renderBaseline(checking: Readonly<Checking>): string {
  if (checking.checks.length === 0) return "";
  const known = checking.baseline?.results ?? [];
  const open = checking.checks.filter((command) => !known.some((check) => check.command === command));
  const described = known.map((check) => describeCheck(check, check.passed === true ? "passes" : "fails"));
  const lines = open.map((command) => `- ${command}`);
  const head =
    known.length > 0 ? "Checks of the user, before any change; pai runs them again at the end (no RUN needed):" : "";
  const rest =
    lines.length === 0 ? "" : `Checks of the user, which pai runs at the end (no RUN needed):\n${lines.join("\n")}`;
  return [head, ...described, rest].filter((part) => part !== "").join("\n");
}
