/** Whether a tool-loop may end: its checks must pass, and a refusal must not be all that came of it. */
import { type ErrorCode, PaiError } from "../../core/error.ts";
import { checksOf, runChecks } from "../checks/checks.ts";
import { describeCheck, describeFailed } from "../checks/describe.ts";
import type { CallReport } from "../perform.ts";
import type { Run } from "../run.ts";

/** How often the model is sent back to work by a failed check. */
const maxCorrections = 2;

/** Refusals that only another request of the user can lift. */
const policy: readonly ErrorCode[] = [
  "path_refused",
  "scope_refused",
  "delete_refused",
  "command_refused",
  "secret_refused",
];

export interface LoopEnd {
  /** Notes how the calls of a reply went. */
  note(reports: readonly CallReport[]): void;
  /** What the model must still do, told to it; null: the turn is over. Throws check_failed, or what was refused. */
  findRest(): Promise<string | null>;
}

/** For one run; in a dry run there are no checks. */
export function watchEnd(run: Run): LoopEnd {
  const checks = run.options.dryRun ? [] : checksOf(run);
  let refused: CallReport | null = null;
  let corrections = 0;

  /** Headless nobody sees a refusal: one after which nothing was done is the failure of the run. */
  const throwRefused = () => {
    if (refused === null || run.options.interactive) return;
    throw new PaiError(refused.code ?? "scope_refused", `${refused.name} ${refused.target}: ${refused.text}`);
  };

  return {
    note(reports) {
      refused = reports.findLast(({ code }) => code !== null && policy.includes(code)) ?? refused;
    },
    async findRest() {
      const changed = run.options.dryRun ? run.record.staged.length > 0 : (run.begun?.changes.length ?? 0) > 0;
      if (!changed) throwRefused();
      if (!changed || checks.length === 0) return null;
      const failed = (await runChecks(run, checks, new Set())).filter(({ fatal }) => fatal);
      const [first] = failed;
      if (first === undefined) return null;
      if (corrections === maxCorrections || run.ledger.exhausted) {
        throw new PaiError("check_failed", describeFailed(first));
      }
      corrections += 1;
      const outputs = failed.map((check) => describeCheck(check)).join("\n\n");
      return `${outputs}\n\nCorrect what the failed check shows.`;
    },
  };
}
