/** Which checks a run has: the user's, those of the plan that may run here, and those that later replies name. */
import { flagsToRun, grantsRun } from "../../core/command/run-patterns.ts";
import { toPaiError } from "../../core/error.ts";
import { type CheckResult, checkDeclined, checkOutdated } from "../../core/outcome.ts";
import { permits, type Rights } from "../../core/plan/scope.ts";
import type { Script } from "../../core/script/script.ts";
import { rowOf } from "../../core/vocabulary.ts";
import { requireRight } from "../approval.ts";
import { bindCommands } from "../commands/commands.ts";
import type { Run } from "../run.ts";
import { type Checking, ownChanges, putResults } from "./checking.ts";

export interface Check {
  readonly command: string;
  readonly by: "user" | "plan";
}

export const userChecks = (checking: Readonly<Checking>): readonly Check[] =>
  checking.checks.map((command): Check => ({ command, by: "user" }));

/** The user's checks, then the plan's, each once. Checks that may not run here are recorded as not run. */
export function checksOf(run: Run): readonly Check[] {
  const user = userChecks(run.checking);
  const planned = run.planning.plan?.execution_plan?.checks ?? [];
  return [...user, ...admitChecks(run, planned, user)];
}

/** The checks of the model beyond `known`, each once, without those that may not run here, which are recorded as not run. */
function admitChecks(run: Run, commands: readonly string[], known: readonly Check[]): readonly Check[] {
  const planned = [...new Set(commands.map((command) => command.trim()))]
    .filter((command) => command !== "" && !known.some((check) => check.command === command))
    .map((command): Check => ({ command, by: "plan" }));
  const withheld = run.interactive ? [] : planned.filter(({ command }) => !grantsRun(run.shell.allowRun, command));
  if (withheld.length > 0)
    tellNotRun(run, withheld, `headless they need ${flagsToRun(withheld.map(({ command }) => command))}`);
  return planned.filter((check) => !withheld.includes(check));
}

function tellNotRun({ checking, emit }: Run, checks: readonly Check[], why: string, note?: string): void {
  const text = `checks of the plan not run (${why}): ${checks.map(({ command }) => command).join("; ")}`;
  emit({ type: "notice", level: "info", code: "checks_not_run", text });
  const unrun = checks.map((check) => ({ ...check, exit: null, ms: 0, passed: null, ...(note && { note }) }));
  putResults(checking, unrun);
}

/** The checks that a later reply names; what no yes covers is asked about. `notes` tell the model of a no. */
export async function laterChecks(run: Run, script: Script, rights: Rights, known: readonly Check[]) {
  const [allowed, notes]: [Check[], string[]] = [[], []];
  if (run.changing.dryRun) return { allowed, notes };
  const named = script.actions.flatMap(({ cmd, arg = "" }) => (rowOf(cmd)?.kind === "check" ? [arg] : []));
  for (const check of admitChecks(run, named, known)) {
    const claim = { kind: "command", command: check.command } as const;
    const isCovered = permits(rights.scope, claim);
    await bindCommands(run, [check.command]);
    const refusal = isCovered ? null : await requireRight(run, claim, null, null).then(() => null, toPaiError);
    if (refusal === null) allowed.push(check);
    else if (refusal.code !== "command_refused") throw refusal;
    else {
      tellNotRun(run, [check], "you declined", checkDeclined);
      notes.push(`CHECK ${check.command}: not run, ${checkDeclined}`);
    }
  }
  return { allowed, notes };
}

export const ownSoFar = (run: Run): number => ownChanges(run).length;

/** The results of the checks; the note of one that ran before the last changes of the run says so. */
export const resultsNow = (run: Run): readonly CheckResult[] =>
  run.checking.results.map((result) => {
    const isOutdated = (run.checking.ranAt.get(result.command) ?? Number.POSITIVE_INFINITY) < ownSoFar(run);
    if (result.passed === null || !isOutdated) return result;
    return { ...result, note: [result.note, checkOutdated].filter(Boolean).join("; ") };
  });
