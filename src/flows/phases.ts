/** The requests of the phases of single-shot: what of the plan is done, and what is left. */

import { approvalWording } from "../core/approval-wording.ts";
import { grantsSome } from "../core/command/run-patterns.ts";
import { fence } from "../core/data-fence.ts";
import { type Dialogue, tellOnce } from "../core/dialogue.ts";
import type { RefusedAction } from "../core/outcome.ts";
import type { RelPath } from "../core/path.ts";
import { planOfScript, saidBefore } from "../core/plan/at-once.ts";
import { type Plan, type PlanStep, workOf } from "../core/plan/plan.ts";
import { commandOf, type Rights, renderStepTarget, undoneStep } from "../core/plan/scope.ts";
import { splitPath } from "../core/script/header.ts";
import { scriptIn } from "../core/script/parser.ts";
import type { Script } from "../core/script/script.ts";
import { nameSome } from "../core/suggest.ts";
import { rowOf } from "../core/vocabulary.ts";
import { renderPastOf, renderPiped, renderRequest } from "./briefing/briefing.ts";
import { showFile, toReadable } from "./briefing/sources.ts";
import { noteChanged } from "./changes/meanwhile.ts";
import type { Check } from "./checks/admit.ts";
import type { CheckReport } from "./checks/checking.ts";
import { describeCheck, renderBaseline } from "./checks/checks.ts";
import { mayRunCommand, redCommands } from "./commands/commands.ts";
import { tellChanged } from "./dialogue.ts";
import { leftOutAll, type RunEnding, renderAnswerForm, renderLearning, takeUp } from "./ending/ending.ts";
import { hasDone } from "./ending/outcome.ts";
import { callsOfSteps, showLook, showRest } from "./evidence.ts";
import { type BatchReport, type CallReport, joinBatches, perform } from "./perform.ts";
import type { Left, Progress } from "./progress.ts";
import type { Run } from "./run.ts";

const renderStep = ({ action, target, destination, purpose }: PlanStep, at: number) =>
  `${at + 1}. ${action} ${target}${destination === null ? "" : ` → ${destination}`}${purpose === "" ? "" : ` — ${purpose}`}`;

export function renderCriteria({ analysis }: Plan): string {
  const criteria = (analysis?.success_criteria ?? []).map((each) => each.trim()).filter((each) => each !== "");
  return criteria.length === 0 ? "" : `Done when:\n${criteria.map((each) => `- ${each}`).join("\n")}`;
}

function renderTurns({ ledger }: Run, left: number): string {
  const more = Math.max(0, ledger.promised.at_most - ledger.made - 1);
  const head = `turns left: ${Math.min(left, more + 1)}, this one included${left <= more ? ", and one more for what fails" : ""}.`;
  if (more === 0) return `turns left: 1, this one included. Do all of it now, and end with FINISH.`;
  return `${head} Missing something? READ::path:from-to without FINISH takes a turn. Otherwise do all of it, and end with FINISH.`;
}

interface AskedExecution {
  readonly checks: readonly Check[];
  /** Replies that are left for the work, this one included; null: another part of the message says it. */
  readonly turns: number | null;
}

/** Names the commands that are not run, so that the model does not claim any result of them. */
function renderNotRun({ acting: { tally }, changing, shell }: Run): string {
  if (!changing.dryRun && tally.withheld.size === 0) return "";
  const some = !changing.dryRun && grantsSome(shell.allowRun);
  return some
    ? `Not run this time: ${[...tally.withheld].join("; ")}. Do not say what they showed.`
    : "Commands are not run this time: do not say what one showed.";
}

function renderOrder({ messages }: Readonly<Dialogue>): string {
  const last = messages.at(-1);
  const text = last?.role === "assistant" ? last.text : "";
  const { actions } = scriptIn(text);
  const hasWork = actions.some(({ cmd }) => rowOf(cmd)?.right != null);
  const rest = "Of your script nothing is done but what results above show. Carry out the rest";
  return `The plan is approved. ${hasWork ? rest : "Carry it out"}: an action script.`;
}

const maxOfTurns = 12_000;

/** The message of the first call for the work; where it stands alone, with what the dialogue holds otherwise. */
export function renderTask(run: Run, plan: Plan, evidence: string, { checks, turns }: AskedExecution): string {
  const { task, dialogue } = run;
  const isAlone = dialogue.messages.length === 0;
  const alone = (text: string) => (isAlone ? text : "");
  const where = plan.analysis?.target_identification ?? "";
  const steps = workOf(plan);
  const done = checks.flatMap(({ command, by }) => (by === "plan" ? [`- ${command}`] : [])).join("\n");
  const parts = [
    evidence,
    alone(renderPiped(run)),
    alone(task.history.length === 0 ? "" : fence("conversation", {}, renderPastOf(run, task.history, maxOfTurns))),
    alone(`Plan${where === "" ? "" : ` (${where})`}:\n${steps.map(renderStep).join("\n")}`),
    alone(renderCriteria(plan)),
    renderNotRun(run),
    tellOnce(dialogue, "checks", renderBaseline(run.checking)),
    alone(done === "" ? "" : `Checks that pai runs after it (no need to run them):\n${done}`),
    turns === null ? "" : renderTurns(run, turns),
    alone(renderRequest(run)),
    renderLearning(run.ending),
    alone(renderAnswerForm(run.ending)),
    isAlone ? "Carry out the plan: an action script." : renderOrder(dialogue),
  ];
  return parts.filter(Boolean).join("\n\n");
}

const renderCall = ({ name, target, ok, text }: CallReport) => {
  if (ok && !text.includes("\n")) return `done: ${name} ${target}${text === "" ? "" : ` (${text})`}`;
  return `${ok ? "done" : "FAILED"}: ${name} ${target}\n${text.includes("\n") ? fence("result", {}, text) : text}`;
};

/** The results of calls, one after another; of a successful look only that it was done. */
export const renderCalls = (reports: readonly CallReport[]): string =>
  reports
    .map((report) => renderCall(report.kind === "look" && report.ok ? { ...report, text: "" } : report))
    .join("\n");

export const renderDone = (reports: readonly CallReport[]): string =>
  `Results. Do not send again what is done.\n${reports.map(renderCall).join("\n")}`;

export const renderSkipped = ({ action, target, why, agreed }: RunEnding["skipped"][number]): string =>
  `left out of the plan${agreed ? ", as the user allowed" : ""}: ${action} ${target}${why === "" ? "" : ` (${why})`}`;

export interface PhaseResults {
  readonly calls: readonly CallReport[];
  readonly left: Left;
  readonly notes: readonly string[];
  readonly checks: readonly CheckReport[];
  readonly stubborn: readonly RelPath[];
  readonly tag: string;
  /** Replies that are left for the work, the next one included. */
  readonly turns: number;
}

export const renderForms = (tag: string): string =>
  `Send an existing file's change as MODIFY::path::${tag}, <<<<<<< SEARCH, its lines, =======, the new lines, >>>>>>> REPLACE, END::${tag}; a new file as WRITE::path::${tag}, its lines, END::${tag}; then FINISH::${tag}, the message, END::${tag}.`;

async function renderStubborn(run: Run, path: RelPath): Promise<string> {
  run.dialogue.files.delete(path);
  const now = await showFile(run, path);
  return [now ?? "", `Edits of ${path} failed twice: send the whole file with WRITE::${path} instead.`]
    .filter(Boolean)
    .join("\n");
}

/** What a red check asks for: nothing, where it fails as it did before the work. */
const renderRepair = (failed: readonly CheckReport[]): string =>
  failed.every(({ compared }) => compared?.same === true)
    ? "These failures were there before the first change of this task: the check failed in the same way. Mend them only if the task asks for it; otherwise send FINISH alone."
    : "Correct what the failed check shows: an action script again, ended with FINISH.";

export async function renderResults(run: Run, { calls, left, notes, checks, stubborn, tag, turns }: PhaseResults) {
  // What the model wrote, and what commands and other people did to the files that it knows.
  const changed = await tellChanged(run);
  const looks = calls.filter(({ kind }) => kind === "look");
  const rest = calls.filter(({ kind }) => kind !== "look");
  const shown = await Promise.all(looks.map((report) => showLook(run, report)));
  const failed = checks.filter(({ passed }) => passed === false);
  const others = failed.length > 0 ? await noteChanged(run) : [];
  const theirs = `Somebody else changed ${nameSome(others.map(({ path }) => path))} behind your edits.`;
  const stand = others.length === 0 ? "Your edits are in the files now." : theirs;
  const parts = [
    ...shown,
    rest.length > 0 ? renderDone(rest) : "",
    run.ending.skipped.map(renderSkipped).join("\n"),
    changed,
    ...(await Promise.all(stubborn.map((path) => renderStubborn(run, path)))),
    ...(await Promise.all(left.files.map((path) => showRest(run, path)))),
    ...notes,
    ...failed.map((check) => describeCheck(check)),
    left.code === "reply_invalid" ? `Your last reply could not be used: ${left.message}.\n${renderForms(tag)}` : "",
    left.open.length > 0 ? `Still to do from the plan:\n${left.open.map((claim) => `- ${claim}`).join("\n")}` : "",
    renderTurns(run, turns),
    failed.length > 0
      ? `${stand} ${renderRepair(failed)}${run.changing.strict ? "" : " A file beyond the plan: AMEND::MODIFY::path::why before it; a step that is not needed: SKIP::path::why."}`
      : "Answer with an action script again, of only what is left, ended with FINISH (alone when nothing is).",
  ];
  return parts.filter(Boolean).join("\n\n");
}

interface Withdrawal {
  readonly step: PlanStep;
  readonly why: string;
}

const bare = (path: string) => path.replace(/^(?:\.\/)+/, "").replace(/\/$/, "");

/** The steps that `SKIP::text` names, with the reason: what follows the longest target that fits. */
function readSkip(text: string, steps: readonly PlanStep[]): readonly Withdrawal[] {
  const action = /^([A-Z_]+)(?:::| )/.exec(text);
  const rest = action !== null && rowOf(action[1] ?? "") !== null ? text.slice(action[0].length) : text;
  const { path, after } = splitPath(rest);
  const found = steps.flatMap((step) => {
    const spelled = [`${step.target}::${step.destination}`, step.target];
    const target = spelled.find((each) => `${rest}::`.startsWith(`${each}::`));
    if (target !== undefined) return [{ step, why: rest.slice(target.length + 2).trim(), length: target.length }];
    return bare(path) === bare(step.target) ? [{ step, why: (after ?? "").trim(), length: 0 }] : [];
  });
  const longest = Math.max(0, ...found.map(({ length }) => length));
  return found.filter(({ length }) => length === longest);
}

export const skipsIn = (run: Run, { actions }: Script): readonly RefusedAction[] =>
  actions.flatMap(({ cmd, arg = "" }): readonly RefusedAction[] => {
    if (rowOf(cmd)?.kind !== "skip") return [];
    const { path, after } = splitPath(arg.replace(/^(?:WRITE|MODIFY)::/, ""));
    return [{ action: "MODIFY", target: toReadable(run, path) ?? path, why: after ?? "" }];
  });

/** Notes what the model leaves out of the plan, and says why. `agreed`: a person said yes. */
export function leaveOut({ emit, ending }: Run, skips: readonly RefusedAction[], agreed: boolean): void {
  for (const { action, target, why } of skips) {
    const text = `left out of the plan: ${action} ${target}: ${why || "no reason given"}`;
    emit({ type: "notice", level: "warning", code: "step_skipped", text });
    takeUp(ending, [target]);
    ending.skipped = [...ending.skipped, { action, target, why, agreed }];
  }
}

/** The plan that waits for a yes, without what a reply of mere SKIP lines names; null: another reply. Throws nothing_done. */
export function lessPlan(run: Run, { actions }: Script): Plan | null {
  const { corrections, plan } = run.planning;
  const kinds = new Set(actions.map(({ cmd }) => rowOf(cmd)?.kind));
  if (plan?.execution_plan == null || corrections.length === 0 || !kinds.delete("skip")) return null;
  const work = workOf(plan).filter(({ action }) => rowOf(action)?.right !== null);
  const gone = actions.flatMap(({ cmd, arg = "" }) => (rowOf(cmd)?.kind === "skip" ? readSkip(arg, work) : []));
  if (gone.length === 0 || [...kinds].some((kind) => kind !== "finish")) return null;
  const steps = new Set(gone.map(({ step }) => step));
  const left = gone.map(({ step, why }) => undoneStep(step, why));
  leaveOut(run, left, run.interactive);
  if (work.every((step) => steps.has(step))) throw leftOutAll(run.ending);
  const held = { ...plan.execution_plan, steps: plan.execution_plan.steps.filter((step) => !steps.has(step)) };
  // What it said of itself was said of all of it.
  const analysis = plan.analysis && { ...plan.analysis, files_to_create: [], files_to_modify: [], files_to_delete: [] };
  return { ...plan, reply: "", analysis, execution_plan: held };
}

/** The plan that a script amounts to which answers words at a plan that waits; null: it plans nothing. */
export function planOfAnswer(run: Run, script: Script, text: string): Plan | null {
  const { actions } = script;
  const less = lessPlan(run, script);
  if (less !== null) return less;
  if (run.planning.corrections.length === 0 || actions.every(({ cmd }) => rowOf(cmd)?.right == null)) return null;
  leaveOut(run, skipsIn(run, script), run.interactive);
  return planOfScript(script, saidBefore(text, actions));
}

/** Why nobody but a person may leave the step out; null: the model may. */
function whyNeeded(run: Run, { action }: PlanStep): string | null {
  if (run.changing.strict) return "the run is strict (--strict)";
  const { kind, right } = rowOf(action) ?? {};
  if (run.interactive || (kind !== "command" && right !== "delete")) return null;
  return "it was allowed, and nobody can be asked to leave it out";
}

/** Withdraws the steps, at a terminal after a question. Returns those that a person wants done. */
async function withdraw(run: Run, progress: Progress, skips: readonly Withdrawal[]): Promise<readonly PlanStep[]> {
  if (skips.length === 0) return [];
  const lines = skips.map(({ step, why }) => `${step.action} ${renderStepTarget(step)}: ${why || "no reason given"}`);
  const asked = run.interactive && !run.changing.dryRun;
  const decision = asked
    ? await run.decide({ kind: "amend", text: approvalWording.skips(lines, run.ledger.exhausted) })
    : null;
  if (decision?.accept === false) return skips.map(({ step }) => step);
  for (const { step } of skips) progress.withdraw(step);
  const left = skips.map(({ step, why }) => undoneStep(step, why));
  leaveOut(run, left, decision?.by === "user");
  return [];
}

/** A message of fewer words, such as "Done.", is no reason. */
const minReason = 3;

/** Takes a FINISH alone, with a message, as the reason for what is left out. Returns the steps that a person wants done. */
async function takeFinish(run: Run, script: Script, progress: Progress): Promise<readonly PlanStep[]> {
  const [only, ...more] = script.actions;
  const why = (only?.arg ?? "").split("\n", 1)[0]?.trim() ?? "";
  if (only === undefined || more.length > 0 || rowOf(only.cmd)?.kind !== "finish") return [];
  if (why.split(/\s+/).length < minReason) return [];
  if (progress.failure !== null || !hasDone(run)) return [];
  const changes = progress.openSteps.filter(({ action }) => rowOf(action)?.kind === "change");
  const skips = changes.filter((step) => whyNeeded(run, step) === null).map((step) => ({ step, why }));
  return withdraw(run, progress, skips);
}

/** Takes the SKIP lines of a reply whose calls are absorbed, or its FINISH alone. Returns notes for the model. */
export async function takeSkips(run: Run, plan: Plan, script: Script, progress: Progress): Promise<readonly string[]> {
  const notes: string[] = [];
  const wanted = new Map<PlanStep, string>();
  for (const { cmd, arg = "" } of script.actions) {
    if (rowOf(cmd)?.kind !== "skip") continue;
    const named = readSkip(arg, workOf(plan));
    const isRed = (step: PlanStep) => redCommands(run).some(({ target }) => target === step.target);
    const open = named.filter(({ step }) => progress.openSteps.includes(step) || isRed(step));
    if (named.length === 0) notes.push(`SKIP ${arg}: the plan has no such step`);
    else if (open.length === 0) notes.push(`SKIP ${arg}: nothing is left to do for it`);
    for (const { step, why } of open) {
      const needed = whyNeeded(run, step);
      if (needed === null) wanted.set(step, why);
      else notes.push(`SKIP ${arg}: do this step: ${needed}`);
    }
  }
  const skips = [...wanted].map(([step, why]) => ({ step, why }));
  const kept = [...(await takeFinish(run, script, progress)), ...(await withdraw(run, progress, skips))];
  return [...notes, ...kept.map(({ action, target }) => `${action} ${target}: the user wants this step done`)];
}

const isBehind = (steps: readonly PlanStep[], step: PlanStep) =>
  rowOf(step.action)?.kind === "command" &&
  steps.slice(steps.indexOf(step) + 1).every(({ action }) => rowOf(action)?.kind !== "change");

/** The batch with the planned commands that no reply ran: runs them, unless changes should have followed them. */
export async function runLate(
  { run, plan, rights, progress }: { run: Run; plan: Plan; rights: Rights; progress: Progress },
  batch: BatchReport,
): Promise<BatchReport> {
  const open = progress.openSteps;
  const mayRun = (command: string) =>
    mayRunCommand(run, command) && rights.refusalOf({ kind: "command", command }) === null;
  const isLeft = (step: PlanStep) =>
    open.includes(step) && isBehind(workOf(plan), step) && mayRun(commandOf(step.action, step.target));
  const calls = callsOfSteps(plan, isLeft);
  if (calls.length === 0) return batch;
  const text = `pai runs what no reply ran of the plan: ${calls.map(({ name, input }) => `${name} ${Object.values(input as object)[0]}`).join("; ")}`;
  run.emit({ type: "notice", level: "info", code: "command_left_out", text });
  const late = await perform(run, calls, rights, false);
  progress.absorb(late);
  return joinBatches(batch, late);
}
