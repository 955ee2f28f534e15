/** single-shot: one call to plan, one to carry out the plan, more only when work is left. */

import { type Change, losesFile } from "../core/change.ts";
import { messagesWith } from "../core/dialogue.ts";
import { exitCodes, PaiError } from "../core/error.ts";
import type { Message } from "../core/model.ts";
import { nameOf, type RelPath } from "../core/path.ts";
import { type Plan, workOf } from "../core/plan/plan.ts";
import { complexityOf, phasesOf, promiseOf } from "../core/plan/promise.ts";
import { createRights, type PlanClaim, type Rights, undoneStep, useOf } from "../core/plan/scope.ts";
import { readProse } from "../core/script/prose.ts";
import { rowOf } from "../core/vocabulary.ts";
import { hintFor, type Tally } from "./acting.ts";
import { requireRight } from "./approval.ts";
import { applyFinished } from "./changes/batch.ts";
import { acceptMeanwhile } from "./changes/meanwhile.ts";
import { type Check, checksOf, laterChecks } from "./checks/admit.ts";
import type { CheckReport } from "./checks/checking.ts";
import { describeFailed, finishBaseline, refuseFailed, runChecks, runPlanChecks } from "./checks/checks.ts";
import { hasOwnWork } from "./commands/commands.ts";
import { continueOrStart } from "./dialogue.ts";
import type { RunEnding } from "./ending/ending.ts";
import { collectEvidence, lookBehind, showNow } from "./evidence.ts";
import { beginningOf } from "./json-reply.ts";
import type { BatchReport, CallReport } from "./perform.ts";
import { type PhaseResults, renderResults, renderTask, runLate, takeSkips } from "./phases.ts";
import { type ApprovedPlan, makePlan, presentSaved, singleShotPlan, systemOf } from "./planning.ts";
import { type AtOnce, finishOf, seenEdits, undoneFiles } from "./plans/at-once.ts";
import { keepPlans } from "./plans/plan-state.ts";
import { createProgress, type Left, type Progress } from "./progress.ts";
import {
  askForScript,
  keepFinish,
  performAsWished,
  proseAfter,
  proseOf,
  type ScriptQuestion,
  type ScriptReply,
  wasCut,
} from "./replies.ts";
import type { Flow, Run } from "./run.ts";

export const singleShot: Flow = async (run) => followMade(run, await makePlan(run, singleShotPlan));

export async function followMade(run: Run, { plan, claims, atOnce }: ApprovedPlan<Plan>): Promise<void> {
  if (plan.intent === "conversation") {
    run.ending.text = plan.reply;
    return;
  }
  if (run.planning.planOnly) return;
  await execute(run, plan, claims, atOnce);
  if (!run.changing.dryRun && run.ending.undone.length === 0) keepPlans(run.planning);
}

/** single-shot with a saved plan, without a planning call; with its finished `changes`, without any call. */
export const followPlan =
  (saved: Plan, changes: readonly Change[] | null): Flow =>
  async (run) => {
    const promise = changes === null ? promiseOf(saved, 0) : { expected: 0, at_most: 0 };
    const { plan, claims } = await presentSaved(run, saved, promise);
    if (changes === null) await execute(run, plan, claims);
    else await executeFinished(run, plan, claims, changes);
  };

/** The rights of a plan, with its words, in which the change guard looks for announced deletions. */
export function rightsOf(plan: Plan, claims: readonly PlanClaim[], atOnce: AtOnce | null = null): Rights {
  const steps = plan.execution_plan?.steps ?? [];
  const stepTexts = steps.map(
    ({ action, target, purpose, expected_outcome }) => `${action} ${target}: ${purpose} ${expected_outcome}`,
  );
  const texts = [plan.reply, finishOf(atOnce), plan.analysis?.user_intent ?? "", ...stepTexts];
  return createRights(claims, texts);
}

interface Phase {
  readonly run: Run;
  readonly plan: Plan;
  readonly rights: Rights;
  readonly claims: readonly PlanClaim[];
  readonly progress: Progress;
  readonly checks: Check[];
}

function keepProse(ending: RunEnding, reply: ScriptReply, progress: Progress): boolean {
  const others = reply.script.actions.some(({ cmd }) => rowOf(cmd)?.kind !== "finish");
  const prose = others || progress.open.length > 0 ? "" : proseOf(reply);
  ending.text ||= prose;
  return prose !== "";
}

/** Whether a granted amendment has changed a file of this name elsewhere: the plan named the wrong path. */
const isCorrected = ({ acting }: Run, path: RelPath): boolean =>
  acting.amended.some(
    (each) => each.accept && each.action === "MODIFY" && nameOf(each.path).toLowerCase() === nameOf(path).toLowerCase(),
  );

/** Promised folders that exist, deletions that are done, and changes of a wrong path once the right one is changed. */
async function findSettled(run: Run, claims: readonly PlanClaim[]): Promise<readonly PlanClaim[]> {
  const settled: PlanClaim[] = [];
  for (const claim of claims) {
    const isWrong = claim.kind === "content" && isCorrected(run, claim.path);
    if (!isWrong && claim.kind !== "folder" && claim.kind !== "delete") continue;
    const blob = await run.overlay.read(claim.path).catch(() => undefined);
    if (claim.kind === "folder" ? blob?.kind === "folder" : blob === null) settled.push(claim);
  }
  return settled;
}

function askOrTake({ run, progress }: Phase, request: string | ScriptReply) {
  const isAsked = typeof request === "string";
  const messages = isAsked ? messagesWith(run.dialogue, request) : request.messages;
  const system = systemOf(run, singleShotPlan);
  const question: ScriptQuestion = { purpose: "execute", system, messages, targets: progress.targets };
  run.dialogue.messages = messages;
  return { question, reply: isAsked ? askForScript(run, question) : Promise.resolve(request) };
}

async function doPhase(phase: Phase, n: number, request: string | ScriptReply, baseline: () => Promise<void>) {
  const { run, plan, rights, claims, progress, checks } = phase;
  const { question, reply: asking } = askOrTake(phase, request);
  const [asked, begun] = await Promise.allSettled([asking, baseline()]);
  if (asked.status === "rejected") throw asked.reason;
  if (begun.status === "rejected") throw begun.reason;
  const keep = (said: readonly Message[]) => {
    run.dialogue.messages = said;
  };
  const how = { rights, prefix: `phase${n}`, planned: progress.steps, keep };
  const { asked: reply, work } = await performAsWished(run, asked.value, question, how);
  const { script, text, seen, tag } = reply;
  const later = await laterChecks(run, script, rights, checks);
  checks.push(...later.allowed);
  const closed = keepFinish(run.ending, script);
  const finished = keepProse(run.ending, reply, progress) || closed;
  progress.absorb(work.batch, await findSettled(run, claims));
  const isCut = wasCut(script);
  const unskipped = isCut ? [] : await takeSkips(run, plan, script, progress);
  const notes = [...work.notes, ...later.notes, ...unskipped];
  const empty = script.actions.length === 0 && !finished;
  let left = progress.decide(work.batch, { finished, cut: isCut, overflow: work.overflow, empty, seen });
  const why = left?.part ?? null;
  if (why !== null && run.ledger.exhausted && mayEndInPart(run)) left = null;
  const batch = left === null ? await runLate(phase, work.batch) : work.batch;
  const due = progress.promisesChanges || hasOwnWork(run);
  const reports = left === null && due ? await runChecks(run, checks) : [];
  left = progress.judgeCommands(progress.judgeChecks(left, reports), batch.reports.length + unskipped.length > 0);
  if (left === null) run.ending.undone = progress.openSteps.map((step) => undoneStep(step, why));
  if (left === null && !closed) run.ending.text ||= proseAfter(reply);
  return { left, text, batch, notes, reports, tag };
}

/** Whether planned steps may stay open: something was done, and neither a cap on calls nor a refused change is the reason. */
export function mayEndInPart(run: Run): boolean {
  const { acting, changing, ledger } = run;
  const forbidden = acting.tally.forbidden;
  const isRefused = forbidden !== null && rowOf(forbidden.name)?.kind === "change";
  return !ledger.capped && !changing.strict && !isRefused && hasOwnWork(run);
}

/** The failure of a run that (perhaps) needed a refused action; its hint says what would allow the action. */
function refusalOf(run: Run, forbidden: NonNullable<Tally["forbidden"]>, left: Pick<Left, "message"> | null): PaiError {
  const { name, target, code } = forbidden;
  const what = `${name} ${target} was refused${code === "scope_refused" ? ": the plan does not list it" : ""}`;
  const message = left === null ? `${what}; nothing was done` : `${left.message}; ${what}`;
  return new PaiError(code, message, { hint: hintFor(forbidden, run.changing) });
}

function refuseIdle(run: Run): void {
  const { forbidden } = run.acting.tally;
  if (forbidden !== null && !hasOwnWork(run) && !run.interactive) throw refusalOf(run, forbidden, null);
}

const renderNow = async (run: Run, plan: Plan, checks: readonly Check[]): Promise<string> =>
  renderTask(run, plan, await showNow(run, plan), { checks, turns: null });

function giveUp(run: Run, left: Left, text: string): never {
  if (left.code === "reply_invalid" && readProse(text, "") !== null) run.ending.text ||= text.trim();
  if (run.ledger.capped) {
    throw new PaiError("budget_calls", `budget reached: ${left.message}, and --max-calls allows no further call`);
  }
  const { forbidden } = run.acting.tally;
  if (forbidden !== null && ["check_failed", "nothing_done"].includes(left.code)) throw refusalOf(run, forbidden, left);
  if (forbidden !== null && left.hint === null && exitCodes[left.code] === exitCodes[forbidden.code])
    throw new PaiError(left.code, left.message, { hint: hintFor(forbidden, run.changing) });
  // A red check of the user says more than the edit that was to mend it.
  const red = run.checking.results.find(({ by, passed }) => by === "user" && passed === false);
  if (red !== undefined && left.code !== "check_failed" && !run.checking.noWorse)
    throw new PaiError("check_failed", `${describeFailed(red)}; then ${left.message}`, { hint: left.hint });
  const said = left.code === "reply_invalid" ? beginningOf(text) : "";
  throw new PaiError(left.code, left.message + said, left.hint === null ? {} : { hint: left.hint });
}

const isLost = ({ reports }: BatchReport): boolean =>
  reports.length > 0 && reports.every(({ ok, kind }) => !ok && kind === "look");

const maxOfResults = 16_000;

/** The request after a reply. Where it stands alone it tells of the earlier replies, too, whose calls are `done`. */
async function renderNext({ run, plan, checks }: Phase, done: readonly CallReport[], ended: PhaseResults) {
  continueOrStart(run, systemOf(run, singleShotPlan), "work", maxOfResults);
  if (run.dialogue.messages.length > 0) return renderResults(run, ended);
  const now = await renderNow(run, plan, checks);
  return `${now}\n\nSo far:\n${await renderResults(run, { ...ended, calls: [...done, ...ended.calls] })}`;
}

export async function execute(run: Run, plan: Plan, claims: readonly PlanClaim[], atOnce: AtOnce | null = null) {
  const rights = rightsOf(plan, claims, atOnce);
  const progress = createProgress(run, plan, claims);
  run.ending.open = () => progress.openSteps;
  await finishBaseline(run);
  // Before anything that may end the run, so that it knows what was claimed.
  if (atOnce !== null) keepFinish(run.ending, atOnce.reply.script);
  // The plan, and perhaps a person's approval, refers to the files as they were when it was made.
  await acceptMeanwhile(run, claims, seenEdits(run, atOnce));
  const system = systemOf(run, singleShotPlan);
  const begin = async (): Promise<string | ScriptReply> => {
    if (atOnce !== null) return atOnce.reply;
    const { text: evidence, batch: seen } = await collectEvidence(run, plan, rights, system);
    progress.absorb(seen);
    return renderTask(run, plan, evidence, { checks, turns: turnsAt(1) });
  };
  const checks = run.changing.dryRun ? [] : [...checksOf(run)];
  const baseline = async () => {
    if (progress.promisesChanges && run.checking.plannedBefore.length === 0) await runPlanChecks(run, checks);
  };
  const phases = phasesOf[complexityOf(plan)];
  const turnsAt = (n: number) => Math.max(1, phases - n + 1);
  const phase: Phase = { run, plan, rights, claims, progress, checks };
  const told: CheckReport[] = [];
  const done: CallReport[] = [];
  let request = await begin();
  for (let n = 1; ; n += 1) {
    run.ledger.reserve(Math.max(0, phases - n));
    run.emit({ type: "phase.started", phase: n, of: Math.max(n, phases) });
    const { left, text, batch, notes, reports, tag } = await doPhase(phase, n, request, baseline);
    if (left === null) {
      run.ending.undone = [...run.ending.undone, ...undoneFiles(run, atOnce)];
      await lookBehind(run, plan, rights);
      return refuseIdle(run);
    }
    // A red check that did not have to run again was told before: the same request would have the same answer.
    if (run.ledger.exhausted || reports.some((each) => told.includes(each))) giveUp(run, left, text);
    told.push(...reports.filter(({ fatal }) => fatal));
    const isSaid = batch.reports.some(({ ok }) => !ok) || reports.some(({ passed }) => passed === false);
    if (!isSaid) run.emit({ type: "notice", level: "info", code: left.code, text: `asking again: ${left.message}` });
    // A reply of looks that all failed is asked for again: the turn is not lost.
    if (run.ledger.spare && isLost(batch)) n -= 1;
    const { stubborn } = progress;
    const ended = { calls: batch.reports, left, notes, checks: reports, stubborn, turns: turnsAt(n + 1), tag };
    request = await renderNext(phase, done, ended);
    done.push(...batch.reports.filter(({ kind }) => kind !== "look"));
  }
}

async function performChanges(run: Run, changes: readonly Change[], rights: Rights): Promise<void> {
  const moved = (path: string) =>
    rights.scope.moves.some(({ from, to }) => [from, to].some((end) => path === end || path.startsWith(`${end}/`)));
  for (const change of changes) {
    const kind = change.after === null ? "delete" : change.after.kind === "folder" ? "folder" : "content";
    const path = run.overlay.path(change.path, useOf[kind]);
    if (!moved(path)) await requireRight(run, { kind, path }, rights, null);
    if (losesFile(change) && !moved(path)) await requireRight(run, { kind: "delete", path }, rights, null);
  }
  run.overlay.stage(changes);
  const paths = changes.map(({ path }) => [path]);
  await applyFinished(run, rights, paths);
}

async function executeFinished(run: Run, plan: Plan, claims: readonly PlanClaim[], changes: readonly Change[]) {
  const checks = run.changing.dryRun ? [] : checksOf(run);
  await finishBaseline(run);
  await runPlanChecks(run, checks);
  await performChanges(run, changes, rightsOf(plan, claims));
  for (const { action: name, target } of workOf(plan))
    if (rowOf(name)?.kind === "change")
      run.acting.tally.note({ kind: "change", name, target, paths: [], text: "", code: null });
  if (!run.changing.dryRun) refuseFailed(await runChecks(run, checks));
  run.ending.text = plan.reply;
}
