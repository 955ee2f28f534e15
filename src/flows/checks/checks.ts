/** Runs the checks on the changed tree. Every failure counts, whoever wrote the check and however it ended before. */

import type { Change } from "../../core/change.ts";
import { classOf } from "../../core/closed-names.ts";
import {
  type CheckEvidence,
  type Comparison,
  compareFailures,
  lastLineOf,
  renderComparison,
  speaksOf,
  tailOf,
  whyUnjudged,
} from "../../core/command/check-output.ts";
import { scriptOf } from "../../core/command/command-files.ts";
import type { Wall } from "../../core/command/sandbox.ts";
import { fence } from "../../core/data-fence.ts";
import { PaiError } from "../../core/error.ts";
import { type CheckResult, checkStopped } from "../../core/outcome.ts";
import type { RelPath } from "../../core/path.ts";
import type { CommandResult } from "../../core/ports.ts";
import { waitAtMost } from "../../core/steps.ts";
import { nameSome } from "../../core/suggest.ts";
import { requireBound, runInWorkspace } from "../commands/commands.ts";
import { type Ended, settleCheck, settleEffects } from "../effects.ts";
import type { Run } from "../run.ts";
import { type Check, ownSoFar, userChecks } from "./admit.ts";
import { type Baseline, type Checking, type CheckReport, putResults } from "./checking.ts";
import { formatChanged } from "./format.ts";
import { leavesNothing, mayLeave, refuseWalled, tellWithheld, weakestFor, whyWalled } from "./rights.ts";

interface CheckRun {
  readonly when: "before" | "after";
  readonly signal?: AbortSignal;
  readonly earlier?: CheckEvidence | null;
}

/** Why the end of a check says nothing about the work, and the wall that only the user's rights lift; nulls: neither. */
function judgeEnd(run: Run, { by, command }: Check, result: CommandResult, earlier: CheckEvidence | null) {
  const { begun, checking } = run;
  const found = result.exit === 0 ? null : result.held.wall;
  // A wall that a check of the plan has passed before is none.
  if (by === "plan") {
    const text = earlier?.passed === true ? null : (found?.text ?? null);
    return { unjudged: whyUnjudged({ ...result, command }, text, begun?.changes), wall: null };
  }
  // What has failed on this work without a wall could judge it: what it made then may be its wall now.
  const wasRed = checking.results.some((each) => each.command === command && each.passed === false);
  const wall = found?.needsRights === true && !wasRed ? found : null;
  return { unjudged: wall === null ? null : whyWalled(run, wall), wall };
}

async function settleBy(run: Run, by: Check["by"], did: Ended): Promise<void> {
  if (by === "user") return settleCheck(run, did);
  const refused = await settleEffects(run, null, did);
  if (refused === null) return;
  const text = `${did.command}: ${refused.text}`;
  run.emit({ type: "notice", level: "warning", code: refused.code, text });
}

async function runCheck(
  run: Run,
  { command, by }: Check,
  { when, signal, earlier = null }: CheckRun,
): Promise<CheckEvidence & { readonly compared: Comparison | null; readonly wall: Wall | null }> {
  if (by === "plan") await requireBound(run, command);
  run.emit({ type: "check.started", when, command, by });
  const result = await runInWorkspace(run, command, {
    by,
    weakest: by === "user" ? weakestFor(run, command) : undefined,
    timeoutMs: run.checking.checkTimeoutMs,
    unasked: by === "plan" && !run.interactive,
    sandbox: when === "before" || by === "plan" ? "throwaway" : "in-place",
    signal,
  });
  const did = { ...result, command };
  await settleBy(run, by, did);
  const { unjudged, wall } = judgeEnd(run, { command, by }, result, earlier);
  // The question about a check before the work waits for its turn: see startBaseline.
  const isDue = wall !== null && when === "after";
  if (isDue && (await mayLeave(run, command)))
    return runCheck(run, { command, by }, { when, ...(signal && { signal }), earlier });
  const passed = unjudged === null ? result.exit === 0 : null;
  const withheld = when === "before" && passed === false ? tellWithheld(run, command, result) : "";
  const ended = { command, by, exit: result.exit, ms: result.ms, passed, output: result.output };
  const compared = earlier === null ? null : compareFailures(earlier, ended);
  const check = { ...ended, note: unjudged ?? (renderComparison(compared) || doubtGreen(run, earlier, ended)) };
  run.emit({ type: "check.finished", when, ...check });
  return { ...check, compared, wall, withheld };
}

/** Why a green check may prove nothing: the run changed its script, or nothing that it spoke of; "": no reason. */
function doubtGreen({ begun }: Run, earlier: CheckEvidence | null, { command, passed }: CheckEvidence): string {
  const changes = begun?.changes ?? [];
  const script = scriptOf(command);
  if (passed === true && changes.some(({ path, before }) => path === script && before !== null))
    return `this run changed ${script}, which the check runs or reads`;
  if (earlier?.passed !== false || passed !== true || earlier.output.trim() === "") return "";
  const touched = changes.some((change) => speaksOf(earlier.output, change));
  return touched ? "" : "it failed before the work: mended, or unsteady";
}

export async function runPlanChecks(run: Run, checks: readonly Check[]): Promise<void> {
  for (const check of checks) {
    if (check.by === "user") continue;
    const result = await runCheck(run, check, { when: "before" });
    run.checking.plannedBefore = [...run.checking.plannedBefore, result];
  }
}

const resultsBefore = async ({ checking }: Run): Promise<readonly CheckEvidence[]> => [
  ...((await checking.baseline?.finish()) ?? []),
  ...checking.plannedBefore,
];

export function refuseFailed(reports: readonly CheckReport[]): void {
  const failed = reports.find(({ fatal }) => fatal);
  if (failed !== undefined) throw new PaiError("check_failed", describeFailed(failed));
}

/** Whether the run only told a person something, which checks do not judge. Without a plan it did where nothing was refused or declined. */
export const isAnswer = ({ interactive, planning: { plan }, acting, changing }: Run) =>
  interactive &&
  (plan === null ? acting.tally.refused.length + changing.declined.length === 0 : plan.intent === "conversation");

/** Runs the checks that have judged an earlier tree once more. Returns what ran. */
export async function judgeAnew(run: Run): Promise<readonly CheckReport[]> {
  const told = [...run.checking.judged.values()].map(({ report }) => report);
  if (told.length === 0) return [];
  return (await runChecks(run, told)).filter((report) => !told.includes(report));
}

/** Judges a run at its end; one that changed nothing by the user's checks, before the work or now. Throws check_failed. */
export async function judgeAtLast(run: Run): Promise<void> {
  const { checking } = run;
  if (leavesNothing(run)) return;
  const changed = ownSoFar(run) > 0;
  const anew = await judgeAnew(run);
  if (changed || !isAnswer(run)) refuseFailed(anew);
  if (changed || checking.checks.length === 0 || checking.results.some(({ by }) => by === "user")) return;
  if (checking.baseline === null && isAnswer(run)) return;
  if (checking.baseline === null) return refuseFailed(await runChecks(run, userChecks(run.checking)));
  const known = await checking.baseline.finish();
  checking.results = [...known.map(resultOf), ...checking.results];
  if (checking.noWorse || isAnswer(run)) return;
  const failed = known.find(({ passed }) => passed === false);
  if (failed !== undefined) throw new PaiError("check_failed", describeFailed(failed));
}

const resultOf = ({ command, by, exit, ms, passed, note }: CheckEvidence): CheckResult => ({
  ...{ command, by, exit, ms, passed },
  ...(note !== undefined && note !== "" && { note }),
});

/** Files that checks, or others meanwhile, have changed since `from`, without what checks put out. */
function changedMeanwhile({ begun, checking }: Run, from: ReturnType<typeof soFar>): readonly RelPath[] {
  const all = begun?.changes ?? [];
  const outputs = new Set<RelPath>();
  const last = new Map<RelPath, Change>();
  for (const change of all) {
    const { path, before } = change;
    if (!checking.byUser.has(change)) outputs.delete(path);
    else if (!last.has(path) && (before === null || classOf(path) === "built")) outputs.add(path);
    last.set(path, change);
  }
  const later = new Set(all.slice(from.changes).map(({ path }) => path));
  const byChecks = [...last.values()]
    .filter((change) => later.has(change.path) && checking.byUser.has(change) && !outputs.has(change.path))
    .filter(({ before, after }) => (after ?? before)?.kind !== "folder")
    .map(({ path }) => path);
  return [...new Set([...byChecks, ...checking.byOthers.slice(from.others)])];
}

const soFar = ({ begun, checking }: Run) => ({ changes: begun?.changes.length ?? 0, others: checking.byOthers.length });

/** Tells trees apart by what the run did and by when each file was last written, as others write, too. */
async function treeOf(run: Run): Promise<string> {
  const { shell, workspace, signal } = run;
  const hash = new Bun.CryptoHasher("sha256");
  hash.update(`${ownSoFar(run)} ${shell.commands.length}`);
  for await (const { path, changed = 0, target } of workspace.walk("" as RelPath, signal))
    hash.update(`\n${path}\0${changed}\0${target}`);
  return hash.digest("hex");
}

/** Runs each check once on the changed tree; one that has judged this very tree is not run again, unless `anew`. */
async function runEach(run: Run, checks: readonly Check[], anew = false): Promise<CheckReport[]> {
  const before = await resultsBefore(run);
  const { judged, noWorse } = run.checking;
  const tree = anew || !checks.some(({ command }) => judged.has(command)) ? "" : await treeOf(run);
  const reports: CheckReport[] = [];
  for (const check of checks) {
    const known = judged.get(check.command);
    if (known?.tree === tree) {
      reports.push(known.report);
      continue;
    }
    const earlier = before.find(({ command }) => command === check.command) ?? null;
    const seen = ownSoFar(run);
    run.checking.unsettled = [];
    const result = await runCheck(run, check, { when: "after", earlier }).catch((thrown) => {
      if (run.signal.aborted) {
        const stopped = { ...check, exit: null, ms: 0, passed: null, note: checkStopped };
        putResults(run.checking, [...reports.map(resultOf), stopped]);
        run.emit({ type: "check.finished", when: "after", ...stopped, output: "" });
      }
      throw thrown;
    });
    run.checking.ranAt.set(check.command, seen);
    const tolerated = noWorse && result.compared?.same === true;
    reports.push({ ...result, fatal: result.passed === false && !tolerated });
  }
  // Only now: what the checks themselves have written makes no other tree.
  const after = reports.every((report) => judged.get(report.command)?.report === report) ? tree : await treeOf(run);
  for (const report of reports) judged.set(report.command, { tree: after, report });
  return reports;
}

/** Runs all checks on the changed tree, once more where a file changed meanwhile, which then nothing has judged. */
export async function runChecks(run: Run, checks: readonly Check[]): Promise<readonly CheckReport[]> {
  const { emit, checking } = run;
  await formatChanged(run);
  const since = soFar(run);
  let reports = await runEach(run, checks);
  const changed = changedMeanwhile(run, since);
  if (changed.length > 0 && !reports.some(({ fatal }) => fatal)) {
    const text = `${nameSome(changed)}: changed while the checks ran, so they run once more`;
    emit({ type: "notice", level: "info", code: "checks_again", text });
    const again = soFar(run);
    reports = await runEach(run, checks, true);
    checking.unsettled = changedMeanwhile(run, again);
    if (checking.unsettled.length > 0) {
      const why = `${nameSome(checking.unsettled)}: changed whenever the checks run, so no check has judged what is there now; if it is only output of a check, ignore it (.gitignore)`;
      emit({ type: "notice", level: "warning", code: "checks_change", text: why });
    }
  }
  putResults(run.checking, reports.map(resultOf));
  return reports;
}

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
  const results: Awaited<ReturnType<typeof runCheck>>[] = [];
  const controller = new AbortController();
  const signal = AbortSignal.any([run.signal, controller.signal]);
  const work = (async () => {
    for (const check of userChecks(run.checking)) {
      const result = await runCheck(run, check, { when: "before", signal });
      refuseUnusable(result);
      results.push(result);
    }
  })();
  /** A question waits until the flow does: it must not come between other questions. */
  const settleWalls = async () => {
    await work;
    for (const [n, { command, wall }] of results.entries()) {
      if (wall === null) continue;
      refuseWalled(run, command, wall);
      if (!(await mayLeave(run, command))) continue;
      results[n] = await runCheck(run, { command, by: "user" }, { when: "before", signal });
    }
    return results;
  };
  let settling: ReturnType<typeof settleWalls> | null = null;
  // A failure reaches whoever awaits `work`; without this, it would be unhandled until somebody does.
  work.catch(() => {});
  return {
    results,
    finish() {
      settling ??= settleWalls();
      return settling;
    },
    ran: work,
    async stop() {
      controller.abort(new PaiError("interrupted", "the run ended before its checks"));
      await work.catch(() => {});
    },
  };
}

/** The baseline of a run, started at the first call; null: it has none, or one that only `openBaseline` may start. */
function baselineOf(run: Run): Baseline | null {
  const { checking } = run;
  if (checking.checks.length === 0 || !checking.takesBaseline) return null;
  if (!leavesNothing(run)) checking.baseline ??= startBaseline(run);
  return checking.baseline;
}

/** The results of the user's checks before the work; those of a saved plan begin only now. */
export const finishBaseline = async (run: Run): Promise<readonly CheckEvidence[]> =>
  (await baselineOf(run)?.finish()) ?? [];

/** Starts the checks and waits as long as the first request may. Throws usage for one that cannot be run. */
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
  if ((await waitAtMost(baseline.ran, checking.checkWaitMs)) !== "late") return void (await baseline.finish());
  const text = `the checks take longer than ${Math.round(checking.checkWaitMs / 1000)} s: planning begins without their results`;
  emit({ type: "notice", level: "info", code: "checks_late", text });
}

/** Whether checks have judged the run: some ran, all passed, and none of them changed what others had judged. */
export function isVerified({ results, unsettled }: Pick<Checking, "results" | "unsettled">): boolean {
  const ran = results.filter(({ passed, by }) => passed !== null || by === "user");
  return ran.length > 0 && unsettled.length === 0 && ran.every(({ passed }) => passed === true);
}

export function describeFailed(check: CheckResult & { readonly compared?: Comparison | null }): string {
  const compared = renderComparison(check.compared ?? null);
  return `check failed: ${check.command} (exit ${check.exit ?? "none"}${compared === "" ? "" : `, ${compared}`})`;
}

/** A check for the model, with a note: of one that passed the last line, of any other what its output says of the failure. */
export function describeCheck({ command, exit, passed, output, ...rest }: CheckEvidence, note = ""): string {
  const compared = "compared" in rest ? renderComparison(rest.compared as Comparison | null) : "";
  const said = [compared, note].filter((text) => text !== "").join("; ");
  return fence(
    "check",
    { command, exit: String(exit), ...(said === "" ? {} : { note: said }) },
    passed === true ? lastLineOf(output) : tailOf(output),
  );
}

/** The results of the user's checks before the work, for a request; "": there are no checks. */
export function renderBaseline(checking: Readonly<Checking>): string {
  if (checking.checks.length === 0) return "";
  const known = checking.baseline?.results ?? [];
  const open = checking.checks.filter((command) => !known.some((check) => check.command === command));
  const failing = ({ withheld = "" }: CheckEvidence) => (withheld === "" ? "fails" : `fails; ${withheld}`);
  const described = known.map((check) =>
    describeCheck(check, check.passed === null ? check.note : check.passed ? "passes" : failing(check)),
  );
  const head =
    known.length > 0
      ? "Checks of the user, before this task; pai runs them again after changes (no need to run them):"
      : "";
  const rest =
    open.length === 0
      ? ""
      : `Checks of the user, which pai runs after changes (no need to run them):\n- ${open.join("\n- ")}`;
  return [head, ...described, rest].filter((part) => part !== "").join("\n");
}
