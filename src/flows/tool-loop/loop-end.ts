/** Decides whether a tool-loop may end: its checks must pass, and a refusal must not be its only result. */
import { type ErrorCode, PaiError } from "../../core/error.ts";
import { checksOf } from "../checks/check-list.ts";
import { runChecks } from "../checks/checks.ts";
import { describeCheck, describeFailed } from "../checks/describe.ts";
import type { CallReport } from "../perform.ts";
import type { Run } from "../run.ts";

/** How often the model is sent back to work by a failed check. */
const maxCorrections = 2;

/** Codes of refusals that only the user can lift. */
const policy: readonly ErrorCode[] = [
  "path_refused",
  "scope_refused",
  "delete_refused",
  "command_refused",
  "secret_refused",
];

export interface LoopEnd {
  /** Notes the results of a reply's calls. */
  note(reports: readonly CallReport[]): void;
  /** A message for the model about what is left to do; null: the turn is over. Throws check_failed, or the refusal. */
  findRest(): Promise<string | null>;
}

/** Watches one run; in a dry run there are no checks. */
export function watchEnd(run: Run): LoopEnd {
  const checks = run.options.dryRun ? [] : checksOf(run);
  let refused: CallReport | null = null;
  let corrections = 0;

  /** Headless, nobody sees a refusal, so it fails a run in which nothing was done. */
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
