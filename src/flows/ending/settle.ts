/** Ends a run: keeps or takes back its changes, and computes its status. The model cannot influence the status. */

import { type Change, squash } from "../../core/change.ts";
import { renderSteps, summarizeAll, summarizeSteps } from "../../core/diff.ts";
import { exitCodes, PaiError, toFailure, toPaiError } from "../../core/error.ts";
import { takeFacts } from "../../core/memory.ts";
import { weighedOf } from "../../core/model.ts";
import { failedOutcome, type Outcome, type RefusedAction, type Status } from "../../core/outcome.ts";
import type { RelPath } from "../../core/path.ts";
import { renderUndone, undoneStep } from "../../core/plan/scope.ts";
import type { PreparedCommit, Transaction } from "../../core/ports.ts";
import { listen, pace } from "../../core/steps.ts";
import { nameSome } from "../../core/suggest.ts";
import { rowOf } from "../../core/vocabulary.ts";
import { isRefusal } from "../acting.ts";
import type { Changing } from "../changes/changing.ts";
import type { Checking } from "../checks/checking.ts";
import { isAnswer, isVerified } from "../checks/checks.ts";
import { hasOwnWork, redCommands } from "../commands/commands.ts";
import type { Shell } from "../commands/shell.ts";
import type { Ledger } from "../ledger.ts";
import type { Planning } from "../plans/plan-state.ts";
import type { Ports, Run, RunOptions } from "../run.ts";
import { askToKeep, declinedSteps, isSaidEarly, showDecisions, tellKept } from "./decisions.ts";
import type { RunEnding } from "./ending.ts";
import { makeCommit, sayKept } from "./git-commit.ts";
import { runThenAgain } from "./then.ts";

interface Ending {
  readonly options: RunOptions;
  readonly ports: Ports;
  /** The prepared commit; null: there is none. */
  readonly commit: PreparedCommit | null;
}

const isStopped = (failure: PaiError | null) => failure !== null && stops.includes(failure.code);
const stops: readonly string[] = ["interrupted", "terminated", "hangup", "timeout"];

function statusOfFailure(failure: PaiError): Status {
  if (stops.includes(failure.code)) return "interrupted";
  if (failure.code === "partial") return "partial";
  return failure.code === "declined" || failure.code === "approval_needed" ? "declined" : "failed";
}

async function wantsToKeep(run: Run, failure: PaiError): Promise<boolean> {
  if (run.changing.keep || ["commit_failed", "partial", "command_failed"].includes(failure.code)) return true;
  if (!run.interactive || [...stops, "then_failed"].includes(failure.code)) return false;
  // Files that only checks left behind are not worth keeping.
  if ((run.begun?.changes ?? []).every((change) => run.checking.byUser.has(change))) return false;
  const answer = await run.decide(await askToKeep(run, failure)).catch(() => null); // Who stops at the question has chosen nothing.
  if (answer !== null) run.ending.keep = answer.accept;
  return answer?.accept === true;
}

const maxNamed = 4;

/** Paths that changed only while the user's own checks ran: by the checks, or by a person who saved a file. */
function changedBeside({ byUser }: Readonly<Checking>, { changes }: Transaction): readonly RelPath[] {
  const ours = new Set(changes.filter((change) => !byUser.has(change)).map(({ path }) => path));
  return [...new Set(changes.map(({ path }) => path))].filter((path) => !ours.has(path));
}

/** How the transaction of a run ended. */
interface Closed {
  readonly changes: readonly Change[];
  /** The run's own changes that were taken back. */
  readonly back: readonly Change[];
  /** Of `changes` those that somebody else had changed, so that they were not taken back. */
  readonly left: readonly RelPath[];
  readonly failure: PaiError | null;
}

/** Rolls the run back. Returns the changes that stay all the same, and those of the run that are gone. */
async function takeBack(run: Run, transaction: Transaction): Promise<Omit<Closed, "failure">> {
  const done = squash(transaction.changes);
  const own = squash(transaction.changes.filter((change) => !run.checking.byUser.has(change)));
  const beside = changedBeside(run.checking, transaction);
  const { restored, left, lost = [], closed = [] } = await transaction.rollback();
  const changes = summarizeAll(restored, () => "plan");
  run.emit({ type: "changes.rolled_back", batch: 0, changes });
  const back = beside.filter((path) => !left.includes(path));
  if (back.length > 0) {
    const text = `${nameSome(back, maxNamed)} changed while your own checks ran, and went back with the run`;
    run.emit({ type: "notice", level: "warning", code: "check_changes_back", text });
  }
  if (closed.length > 0) {
    const text = `what commands changed in ${closed.join(", ")} was put back`;
    run.emit({ type: "notice", level: "info", code: "closed_restored", text });
  }
  for (const text of lost) run.emit({ type: "notice", level: "warning", code: "owner_lost", text });
  for (const path of left) {
    const text = `${path} was changed by someone else meanwhile and was left as it is`;
    run.emit({ type: "notice", level: "warning", code: "left_in_place", text });
  }
  const gone = own.filter(({ path }) => !left.includes(path));
  const changed = done.filter(({ path }) => left.includes(path));
  return { changes: changed, back: gone, left: changed.map(({ path }) => path) };
}

/** Keeps the changes or rolls them back. */
async function closeTransaction(run: Run, failure: PaiError | null): Promise<Closed> {
  const transaction = run.begun;
  const keep = (changes: readonly Change[]): Closed => ({ changes, back: [], left: [], failure });
  if (transaction === null || run.changing.dryRun)
    return keep(failure === null || failure.code === "partial" ? run.changing.staged : []);
  const gone = whyGone(run.checking, transaction, failure);
  let why = gone ?? failure;
  try {
    if (why === null || (gone === null && failure !== null && (await wantsToKeep(run, failure)))) {
      const unkept = await transaction.close().then(() => null, toPaiError);
      if (unkept === null) return keep(await tellKept(run, why, squash(transaction.changes)));
      why = sayUnkept(run, failure, unkept);
    }
    const taken = await takeBack(run, transaction);
    // A person is asked whether the changes stay, and is told how they come back.
    const isTold = gone !== null || failure === null || taken.back.length === 0 || run.interactive;
    return { ...taken, failure: isTold ? why : nameKeep(why) };
  } catch (thrown) {
    const error = toPaiError(thrown);
    return { ...keep(tellLeft(run, transaction, error)), failure: why ?? error };
  }
}

/** The failure of a run that was taken back, with the flag that keeps its changes. */
function nameKeep(failure: PaiError | null): PaiError | null {
  if (failure === null || failure.hint?.includes("--keep") === true) return failure;
  const keep = "--keep keeps the changes all the same";
  const hint = failure.hint === null ? keep : `${failure.hint}; ${keep}`;
  return new PaiError(failure.code, failure.message, {
    hint,
    cause: failure.cause,
    retryAfter: failure.retryAfter,
  });
}

/** pai's own words in place of the model's, which are not so; null: those may stand. */
function ownWords(run: Run, { back, changes, left, failure }: Closed): string | null {
  if (failure === null) return null;
  const { code, message } = failure;
  if (back.length + left.length > 0) return `rolled back: ${message}`;
  const isIdle = isRefusal(failure) || exitCodes[code] === exitCodes.nothing_done;
  if (isIdle && !hasDone(run)) return `nothing was done: ${message}`;
  if (run.ending.text === "" || code === "command_failed") return null;
  // Words behind a command that failed may tell of it; those of a model that left a step out do not.
  if (code === "partial")
    return isSaidEarly(run) || run.ending.undone.length > redCommands(run).length ? message : null;
  return changes.length === 0 ? null : `kept, but ${message}`;
}

/** The words of the run, and what was taken back. */
async function showBack(run: Run, closed: Closed): Promise<Pick<Outcome, "text" | "claimed" | "rolled_back" | "left">> {
  const { text } = run.ending;
  const own = ownWords(run, closed);
  if (own === null) return { text };
  const said = { text: own, claimed: text, ...(closed.left.length > 0 && { left: closed.left }) };
  if (closed.back.length === 0) return said;
  const { diff } = await showChanges(run, closed.back);
  const paths = [...new Set(closed.back.map(({ path }) => path))];
  return { ...said, rolled_back: { diff, paths } };
}

/** The failure of a run whose work somebody took back before its end. null: some of it is left, or it made none. */
function whyGone({ byUser }: Readonly<Checking>, transaction: Transaction, failure: PaiError | null): PaiError | null {
  const own = squash(transaction.changes.filter((change) => !byUser.has(change)));
  if (own.length === 0 || transaction.areGone?.(own) !== true) return null;
  const text = "what this run changed is gone: somebody took it back before the run ended";
  const hint = "find out who else works in this folder, then run it again";
  if (failure === null || failure.code === "partial") return new PaiError("conflict", text, { hint });
  return new PaiError(failure.code, `${failure.message}; ${text}`, { hint });
}

/** Reports that changes could not be taken back, and returns those that are still on disk. */
function tellLeft(run: Run, transaction: Transaction, { message }: PaiError): readonly Change[] {
  const left = transaction.onDisk?.() ?? squash(transaction.changes);
  if (left.length === 0) return left;
  const later = run.workspace.undoable ? "; the next pai here tries again" : "";
  const text = `what the run changed could not be taken back: ${message}${later}`;
  run.emit({ type: "notice", level: "warning", code: "left_in_place", text });
  return left;
}

/**
 * Says why the changes could not be kept. Without a finished journal the next start would take them back, so they are
 * taken back now. That is the run's failure, or, when the run has failed already, a notice.
 */
function sayUnkept(run: Run, failure: PaiError | null, { code, message, hint }: PaiError): PaiError {
  const text = `what the run changed could not be kept: ${message}`;
  if (failure === null) return new PaiError(code, text, { hint });
  run.emit({ type: "notice", level: "warning", code: "not_kept", text });
  return failure;
}

/** Moves the facts that the run proposes from its message into the memory. */
async function learn({ emit, changing, ending }: Run): Promise<void> {
  const keep = ending.memory?.learn ?? null;
  if (keep === null || changing.dryRun) return;
  const { text, facts } = takeFacts(ending.text);
  ending.text = text;
  if (facts.length === 0) return;
  const kept = (await keep(facts)).map(({ id, text: fact, pending }) => ({ id, text: fact, pending }));
  if (kept.length > 0) emit({ type: "memory.kept", facts: kept });
}

/** Makes the commit; returns its hash, or why it could not be made. */
async function commitOf(run: Run, commit: PreparedCommit | null): Promise<readonly [string | null, PaiError | null]> {
  if (commit === null) return [null, null];
  const made = await makeCommit(run, commit);
  return typeof made === "string" ? [made, null] : [null, await asKept(made)];
}

/** Adds to a failed commit that the changes stay. */
const asKept = async (failure: PaiError): Promise<PaiError> =>
  failure.code === "commit_failed" ? sayKept(failure) : failure;

/** Changes for the outcome; the diff leaves out ignored files. */
async function showChanges(run: Run, all: readonly Change[]): Promise<Pick<Outcome, "changes" | "diff">> {
  const by = (path: Change["path"]) => (run.begun?.commandPaths.has(path) ? "command" : "plan");
  const open = all.filter(({ path }) => !run.changing.ignored.has(path));
  const changes = await pace(summarizeSteps(all, by));
  return { changes, diff: await pace(renderSteps(open, run.veiled.hideChange)) };
}

/** How many of the ignored paths that stay the outcome names. */
const maxStays = 20;

const showStays = ({ stays }: Readonly<Changing>): Pick<Outcome, "stays"> =>
  stays.size === 0 ? {} : { stays: { count: stays.size, paths: [...stays].sort().slice(0, maxStays) } };

const showCalls = (ledger: Ledger, failure: PaiError | null): Outcome["calls"] => ({
  made: ledger.made,
  ...(ledger.sent > ledger.made && isStopped(failure) && { sent: ledger.sent }),
  ...ledger.promised,
});

const isTest = (path: string) => /(?:^|[/_.-])(?:tests?|specs?)(?:[/_.-]|$)|[a-z](?:Tests?|Spec)\.\w+$/.test(path);

/** What the green checks prove: nothing new where all passed before the work, too, and no test was changed. */
function showProves(run: Run, changes: readonly Change[]): Pick<Outcome, "proves"> {
  const { baseline, plannedBefore, results } = run.checking;
  if (changes.length === 0 || statusOf(run, true) !== "verified") return {};
  const before = new Map([...(baseline?.results ?? []), ...plannedBefore].map((each) => [each.command, each.passed]));
  const passed = results.filter((check) => check.passed === true).map(({ command }) => before.get(command) ?? null);
  if (passed.includes(false) || changes.some(({ path }) => isTest(path))) return { proves: "change" };
  return passed.every((each) => each === true) ? { proves: "no_regression" } : {};
}

/** The steps that are open beside what is kept, or what the checks prove of a run that left none. */
function showUndone(run: Run, { failure, changes, left }: Closed): Pick<Outcome, "undone" | "proves"> {
  if (failure === null) return showProves(run, changes);
  if (failure.code === "partial") return { undone: run.ending.undone };
  const open = changes.length === left.length ? [] : run.ending.open();
  return open.length === 0 ? {} : { undone: open.map((step) => undoneStep(step, "the run ended before it")) };
}

/** The next steps that apply: none behind changes that were taken back, those behind a red command, which they answer. */
const nextOf = (run: Run, failure: PaiError | null): readonly string[] =>
  failure === null || (failure.code === "command_failed" && !isSaidEarly(run)) ? run.ending.next : [];

const showSkipped = ({ skipped }: RunEnding): Pick<Outcome, "skipped"> =>
  skipped.length === 0 ? {} : { skipped: skipped.map(({ target, why }) => ({ target, why })) };

const showCommands = ({ commands }: Shell): Pick<Outcome, "commands"> =>
  commands.length === 0 ? {} : { commands: commands.map(({ isEarly: _, ...ran }) => ran) };

/** The name is a contract, and its value no function. */
const showThen = ({ ranThen }: Readonly<RunEnding>): Pick<Outcome, "then"> =>
  // biome-ignore lint/suspicious/noThenProperty: see above
  ranThen.length === 0 ? {} : { then: ranThen };

/** Files that somebody else changed, too: of what was kept, or of a run of which nothing was. */
function showMerged({ merged }: Readonly<Changing>, changes: readonly Change[]): Pick<Outcome, "merged"> {
  const kept =
    changes.length === 0 ? [...merged.keys()] : changes.map(({ path }) => path).filter((path) => merged.has(path));
  return kept.length === 0 ? {} : { merged: kept };
}

const madePlan = ({ invocation: { command }, planning: { planOnly, plan } }: Run) =>
  (planOnly || command === "plan") && plan?.intent === "task";

/** Whether anything that was asked for is done: a change, or a command that ended well. */
export const hasDone = (run: Run): boolean => hasOwnWork(run) || run.shell.commands.some(({ exit }) => exit === 0);

/** Whether a check of the user has passed, and none has failed. */
function isGreen({ results }: Readonly<Checking>): boolean {
  const judged = results.filter(({ by, passed }) => by === "user" && passed !== null);
  return judged.length > 0 && judged.every(({ passed }) => passed);
}

/** Notes the steps that count as undone at the end. Throws partial, or the code of a run whose every step is undone. */
export function refuseUndone(run: Run): void {
  const { acting, changing, checking, ending } = run;
  const red = redCommands(run);
  const doubtful = isGreen(checking) ? [] : ending.skipped.filter(({ agreed }) => !agreed);
  const declined = declinedSteps(run);
  const known = (step: RefusedAction) => acting.tally.refused.find(({ target }) => target === step.target) ?? step;
  const open = [
    ...ending.undone.filter(({ target }) => !declined.some((each) => each.target === target)).map(known),
    ...doubtful.map(({ action, target, why }) => ({ action, target, why })),
    ...declined,
  ];
  ending.undone = [...open, ...red];
  const failed = red.map(({ target, why }) => `${target}: ${why}`);
  const steps = [...open.map(renderUndone), ...failed].join(", ");
  if (ending.skipped.length > 0 && !hasDone(run)) {
    const left = ending.skipped.map(renderUndone).join(", ");
    throw new PaiError("nothing_done", `the model left out every step: ${left}`);
  }
  if (ending.undone.length === 0) return;
  if (open.length > 0 && (changing.strict || !hasDone(run)))
    throw new PaiError("nothing_done", `promised and not done: ${steps}`);
  if (!hasDone(run)) throw new PaiError("command_failed", `a command failed: ${failed.join(", ")}`);
  throw new PaiError("partial", `done in part: ${steps}; the rest is kept`);
}

/** The failure of a run that finished its work but got a signal meanwhile; null: none came. */
async function hearSignal({ signal }: Run): Promise<PaiError | null> {
  try {
    await listen(signal);
    return null;
  } catch (thrown) {
    return toPaiError(thrown);
  }
}

/** Ends the run and builds its outcome. `run` is null when it could not even begin. */
export async function settle(
  run: Run | null,
  failed: PaiError | null,
  { options, ports, commit }: Ending,
): Promise<Outcome> {
  if (run === null) return { ...failedOutcome(options.command, toFailure(failed)), run: ports.id, mode: options.mode };
  // Before the changes are kept, so that a signal during the summary of thousands of files still takes the run back.
  const shown = failed === null ? await showChanges(run, squash(run.begun?.changes ?? [])) : null;
  const closed = await closeTransaction(run, failed ?? (await hearSignal(run)));
  await runThenAgain(run, closed.failure);
  const { changes } = closed;
  const [hash, failure] = closed.failure === null ? await commitOf(run, commit) : [null, await asKept(closed.failure)];
  const { ledger, acting, checking, ending, planning, shell } = run;
  if (failure === null) await learn(run);
  return {
    v: 2,
    ok: failure === null,
    command: options.command,
    run: ports.id,
    mode: planning.mode,
    status: failure === null ? statusOf(run, changes.length > 0) : statusOfFailure(failure),
    code: failure === null ? 0 : exitCodes[failure.code],
    ...(await showBack(run, { ...closed, failure })),
    next: nextOf(run, failure),
    plan: planning.plan,
    ...(shown !== null && closed.failure === null && !options.dryRun ? shown : await showChanges(run, changes)),
    checks: checking.results,
    calls: showCalls(ledger, failure),
    usage: { ...ledger.usage, weighed: weighedOf(ledger.usage) },
    cost: ledger.cost,
    model: { requested: ports.model.id, served: ledger.served, key: ledger.key },
    score: ending.score,
    ms: 0,
    actions: acting.tally.actions,
    looks: acting.tally.looks,
    amended: acting.amended,
    refused: acting.tally.refused.filter(({ target }) => !ending.undone.some((each) => each.target === target)),
    sandbox: shell.sandbox,
    ...showStays(run.changing),
    ...showMerged(run.changing, changes),
    ...showThen(ending),
    ...(hash !== null && { commit: hash }),
    ...(checking.unsettled.length > 0 && { unsettled: checking.unsettled }),
    ...(failure === null && madePlan(run) && { planned: true }),
    ...showUndone(run, { ...closed, failure }),
    ...showSkipped(ending),
    ...(ending.keep !== undefined && { keep: ending.keep }),
    ...showDecisions(run),
    ...showCommands(shell),
    error: failure === null ? null : toFailure(failure),
  };
}

/** Whether the plan that was carried out promised anything beyond looks. */
const promises = (planning: Readonly<Planning>): boolean =>
  !planning.planOnly &&
  planning.plan?.intent === "task" &&
  (planning.plan.execution_plan?.steps ?? []).some(({ action }) => rowOf(action)?.right !== null);

/**
 * The status of a finished run. "answered": nothing was promised, changed or refused, and no check of the user has to judge it.
 * "verified": checks have judged the run.
 */
function statusOf(run: Run, changed: boolean): Status {
  const { acting, changing, checking, planning } = run;
  const decided = checking.checks.length > 0 && !planning.planOnly && !isAnswer(run);
  const isRefused = acting.tally.refused.length + changing.declined.length > 0;
  if (!changed && !decided && !promises(run.planning) && !isRefused) return "answered";
  // What passes is what was there before.
  const isOpen = !changed && changing.declined.length > 0;
  return isVerified(checking) && !isOpen ? "verified" : "unverified";
}
