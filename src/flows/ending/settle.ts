/** Ends a run: keeps its changes or takes them back, then commits and learns. */

import { approvalWording } from "../../core/approval-wording.ts";
import { type Change, squash } from "../../core/change.ts";
import { renderChanges, renderSteps, summarizeAll, summarizeSteps } from "../../core/diff.ts";
import { PaiError, toPaiError } from "../../core/error.ts";
import { takeFacts } from "../../core/memory.ts";
import type { Outcome } from "../../core/outcome.ts";
import { renderUndone } from "../../core/plan/scope.ts";
import type { PreparedCommit, Transaction } from "../../core/ports.ts";
import type { Question } from "../../core/question.ts";
import { listen, pace } from "../../core/steps.ts";
import { nameSome } from "../../core/suggest.ts";
import { changedByChecks, isGone, noteChanged, whyGone } from "../changes/meanwhile.ts";
import { type Checking, ownChanges } from "../checks/checking.ts";
import { hasOwnWork, redCommands } from "../commands/commands.ts";
import type { Run } from "../run.ts";
import { makeCommit, runThenAgain } from "./afterwards.ts";
import { leftOutAll } from "./ending.ts";
import { type Closed, declinedSteps, hasDone, knownStep, outcomeOf, stops } from "./outcome.ts";

async function askToKeep(run: Run, { message }: PaiError): Promise<Question> {
  const own = squash(run.begun?.changes ?? []);
  const others = (await noteChanged(run)).map(({ path }) => path);
  const isAll = own.every(({ path }) => others.includes(path));
  const text = approvalWording.keepFailed(message, nameSome(others), isAll);
  return { kind: "keep", text, diffOnAsk: renderChanges(run.veiled.hideChanges(own)) };
}

async function wantsToKeep(run: Run, failure: PaiError): Promise<boolean> {
  if (run.changing.keep || ["commit_failed", "partial", "command_failed"].includes(failure.code)) return true;
  if (!run.interactive || [...stops, "then_failed"].includes(failure.code)) return false;
  // Files that only checks left behind are not worth keeping.
  if (ownChanges(run).length === 0) return false;
  const answer = await run.decide(await askToKeep(run, failure)).catch(() => null); // Who stops at the question has chosen nothing.
  if (answer !== null) run.ending.keep = answer.accept;
  return answer?.accept === true;
}

const maxNamed = 4;

/** Rolls the run back. Returns the changes that stay all the same, and those of the run that are gone. `own`: its changes. */
async function takeBack(run: Run, transaction: Transaction, own: readonly Change[], isGone: boolean) {
  const done = squash(transaction.changes);
  const checked = changedByChecks(run);
  const { restored, left: stays, lost = [], closed = [] } = await transaction.rollback();
  // A folder that stays since a file in it does was changed by nobody.
  const left = stays.filter((path) => !stays.some((each) => each.startsWith(`${path}/`)));
  const changes = summarizeAll(restored, () => "plan");
  run.emit({ type: "changes.rolled_back", batch: 0, changes });
  // By the checks, or by a person who saved a file.
  const back = checked.filter((path) => restored.some((each) => each.path === path));
  if (back.length > 0) {
    const what = `what changed in ${nameSome(back, maxNamed)} while your own checks ran`;
    const text = `${what} went back with the run; pai redo brings it back, too`;
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
  if (isGone) return { changes: [], back: own, left: [], isGone };
  // As they were on the disk, with what changed in them while checks ran.
  const gone = done.filter(({ path }) => own.some((each) => each.path === path) && !stays.includes(path));
  const theirs = done.filter(({ path }) => stays.includes(path));
  const isBack = (path: Change["path"] | null) => restored.some((each) => each.path === path);
  // Where somebody made a file anew nothing of its deletion is there; a file whose old place is back was not moved.
  const changed = theirs
    .filter(({ after }) => after !== null)
    .map((each) => (isBack(each.from) ? { ...each, from: null } : each));
  return { changes: changed, back: gone, left: theirs.flatMap(({ path }) => (left.includes(path) ? [path] : [])) };
}

/** The changes of a run that are kept and there; where it failed, tells which files somebody else has changed since. */
async function keptOf(run: Run, failure: PaiError | null) {
  const touched = await noteChanged(run);
  const gone = new Set(touched.flatMap(({ path, how }) => (isGone(how) ? [path] : [])));
  const others = touched.flatMap(({ path }) => (gone.has(path) ? [] : [path]));
  const text = `changed by someone else meanwhile, and kept so: ${nameSome(others)}`;
  if (others.length > 0 && failure !== null) run.emit({ type: "notice", level: "info", code: "merged", text });
  return squash(run.begun?.changes ?? []).filter(({ path }) => !gone.has(path));
}

async function closeTransaction(run: Run, failure: PaiError | null): Promise<Closed> {
  const transaction = run.begun;
  const keep = (changes: readonly Change[]): Closed => ({ changes, back: [], left: [], failure });
  if (transaction === null || run.changing.dryRun)
    return keep(failure === null || failure.code === "partial" ? run.changing.staged : []);
  const own = squash(ownChanges(run));
  const gone = await whyGone(run, own, failure);
  let why = gone ?? failure;
  try {
    if (gone === null && (failure === null || (await wantsToKeep(run, failure)))) {
      const unkept = await transaction.close().then(() => null, toPaiError);
      if (unkept === null) return keep(await keptOf(run, why));
      why = sayUnkept(run, failure, unkept);
    }
    const taken = await takeBack(run, transaction, own, gone !== null);
    // A person is asked whether the changes stay, and is told how they come back.
    const isTold = gone !== null || failure === null || taken.back.length === 0 || run.interactive;
    return { ...taken, failure: isTold ? why : nameKeep(why) };
  } catch (thrown) {
    const error = toPaiError(thrown);
    return { ...keep(tellLeft(run, transaction, error)), failure: why ?? error };
  }
}

function nameKeep(failure: PaiError | null): PaiError | null {
  if (failure === null || failure.hint?.includes("--keep") === true) return failure;
  const keep = "--keep keeps the changes all the same";
  const hint = failure.hint === null ? keep : `${failure.hint}; ${keep}`;
  const { cause, retryAfter, target } = failure;
  return new PaiError(failure.code, failure.message, { hint, cause, retryAfter, target });
}

function tellLeft(run: Run, transaction: Transaction, { message }: PaiError): readonly Change[] {
  const left = transaction.onDisk?.() ?? squash(transaction.changes);
  if (left.length === 0) return left;
  const later = run.workspace.undoable ? "; the next pai here tries again" : "";
  const text = `what the run changed could not be taken back: ${message}${later}`;
  run.emit({ type: "notice", level: "warning", code: "left_in_place", text });
  return left;
}

/** Says why the changes are taken back: without a finished journal the next start would do it. */
function sayUnkept(run: Run, failure: PaiError | null, { code, message, hint }: PaiError): PaiError {
  const text = `what the run changed could not be kept: ${message}`;
  if (failure === null) return new PaiError(code, text, { hint });
  run.emit({ type: "notice", level: "warning", code: "not_kept", text });
  return failure;
}

async function learn({ emit, changing, ending }: Run): Promise<void> {
  const keep = ending.memory?.learn ?? null;
  if (keep === null || changing.dryRun) return;
  const { text, facts } = takeFacts(ending.text);
  ending.text = text;
  if (facts.length === 0) return;
  const kept = (await keep(facts)).map(({ id, text: fact, pending }) => ({ id, text: fact, pending }));
  if (kept.length > 0) emit({ type: "memory.kept", facts: kept });
}

/** Changes for the outcome; the diff leaves out ignored files. */
async function showChanges(run: Run, all: readonly Change[]): Promise<Pick<Outcome, "changes" | "diff">> {
  const by = (path: Change["path"]) => (run.begun?.commandPaths.has(path) ? "command" : "plan");
  const open = all.filter(({ path }) => !run.changing.ignored.has(path));
  const changes = await pace(summarizeSteps(all, by));
  return { changes, diff: await pace(renderSteps(open, run.veiled.hideChange)) };
}

function isGreen({ results }: Readonly<Checking>): boolean {
  const judged = results.filter(({ by, passed }) => by === "user" && passed !== null);
  return judged.length > 0 && judged.every(({ passed }) => passed);
}

/** Notes the steps that count as undone at the end. Throws partial, or the code of a run whose every step is undone. */
export function refuseUndone(run: Run): void {
  const { changing, checking, ending } = run;
  const red = redCommands(run);
  const doubtful = isGreen(checking) ? [] : ending.skipped.filter(({ agreed }) => !agreed);
  const declined = declinedSteps(run);
  const open = [
    ...ending.undone
      .filter(({ target }) => !declined.some((each) => each.target === target))
      .map((step) => knownStep(run, step)),
    ...doubtful.map(({ action, target, why }) => ({ action, target, why })),
    ...declined,
  ];
  ending.undone = [...open, ...red];
  const failed = red.map(({ target, why }) => `${target}: ${why}`);
  const steps = [...open.map(renderUndone), ...failed].join(", ");
  if (ending.skipped.length > 0 && !hasDone(run)) throw leftOutAll(ending);
  if (ending.undone.length === 0) return;
  if (open.length > 0 && (changing.strict || !hasDone(run)))
    throw new PaiError("nothing_done", `promised and not done: ${steps}`);
  if (!hasDone(run)) throw new PaiError("command_failed", `a command failed: ${failed.join(", ")}`);
  const rest = hasOwnWork(run) ? "; the rest is kept" : "";
  throw new PaiError("partial", `done in part: ${steps}${rest}`);
}

/** Ends the run and builds its outcome. `commit`: the prepared commit; null: there is none. */
export async function settle(run: Run, failed: PaiError | null, commit: PreparedCommit | null): Promise<Outcome> {
  // Before the changes are kept, so that a signal during the summary of thousands of files still takes the run back.
  const own = squash(run.begun?.changes ?? []);
  const checked = changedByChecks(run);
  const shown = failed === null ? await showChanges(run, own) : null;
  const heard = failed ?? (await listen(run.signal).then(() => null, toPaiError));
  const closed = await closeTransaction(run, heard);
  await runThenAgain(run, closed.failure);
  const made = commit === null || closed.failure !== null ? null : await makeCommit(run, commit);
  const failure = made instanceof PaiError ? made : closed.failure;
  if (failure === null) await learn(run);
  const isShown = closed.failure === null && closed.changes.length === own.length && !run.changing.dryRun;
  const { changes, diff } = isShown && shown !== null ? shown : await showChanges(run, closed.changes);
  const { diff: backDiff } = await showChanges(run, closed.back);
  const hash = typeof made === "string" ? made : null;
  return outcomeOf(run, { ...closed, failure }, { changes, diff, backDiff, checked }, hash);
}
