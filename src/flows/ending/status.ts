/** Computes the status of a finished run from its record; the model cannot influence it. */
import type { Status } from "../../core/outcome.ts";
import { rowOf } from "../../core/vocabulary.ts";
import { isVerified } from "../checks/check-list.ts";
import type { Run } from "../run.ts";

/** Whether the plan that was carried out promised anything beyond looks. */
const promises = ({ record, options }: Run): boolean =>
  !options.planOnly &&
  record.plan?.intent === "task" &&
  (record.plan.execution_plan?.steps ?? []).some(({ action }) => rowOf(action)?.right !== null);

/**
 * The status of a finished run. "answered": nothing was promised, changed or refused, and the user gave no check.
 * "verified": checks have judged the run.
 */
export function statusOf(run: Run, changed: boolean): Status {
  const { record, options } = run;
  const decided = options.checks.length > 0 && !options.planOnly;
  if (!changed && !decided && !promises(run) && record.tally.refused.length === 0) return "answered";
  return isVerified(record) ? "verified" : "unverified";
}
