/** The checks of a run: which there are, and whether they have judged it. */
import { flagsToRun, grantsRun } from "../../core/command/run-patterns.ts";
import type { Run } from "../run.ts";
import type { Checking } from "./checking.ts";

export interface Check {
  readonly command: string;
  readonly by: "user" | "plan";
}

/** The checks that the user typed, or set for every run. */
export const userChecks = (checking: Readonly<Checking>): readonly Check[] =>
  checking.checks.map((command): Check => ({ command, by: "user" }));

/** The user's checks, then the plan's, each once. Checks that may not run here are recorded as not run. */
export function checksOf(run: Run): readonly Check[] {
  const { checks } = run.checking;
  const { interactive } = run;
  const { allowRun } = run.shell;
  const user = userChecks(run.checking);
  const planned = (run.planning.plan?.execution_plan?.checks ?? [])
    .map((command) => command.trim())
    .filter((command) => command !== "" && !checks.includes(command))
    .map((command): Check => ({ command, by: "plan" }));
  const withheld = interactive ? [] : planned.filter(({ command }) => !grantsRun(allowRun, command));
  if (withheld.length > 0) {
    const commands = withheld.map(({ command }) => command);
    const text = `checks of the plan not run (headless they need ${flagsToRun(commands)}): ${commands.join("; ")}`;
    run.emit({ type: "notice", level: "info", code: "checks_not_run", text });
    run.checking.results = withheld.map((check) => ({ ...check, exit: null, ms: 0, passed: null }));
  }
  return [...user, ...planned.filter((check) => !withheld.includes(check))];
}

/** Whether checks have judged the run: some ran, all passed, and none of them changed what others had judged. */
export function isVerified({ results, unsettled }: Pick<Checking, "results" | "unsettled">): boolean {
  const ran = results.filter(({ passed }) => passed !== null);
  return ran.length > 0 && unsettled.length === 0 && ran.every(({ passed }) => passed);
}
