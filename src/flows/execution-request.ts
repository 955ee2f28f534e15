/** The requests of execution calls: the task and its evidence first, then the results of each phase. */

import { grantsSome } from "../core/command/run-patterns.ts";
import { fence } from "../core/data-fence.ts";
import { renderChanges } from "../core/diff.ts";
import type { RelPath } from "../core/path.ts";
import { type Plan, type PlanStep, workOf } from "../core/plan/plan.ts";
import { renderRequest } from "./briefing/briefing.ts";
import { showFile } from "./briefing/sources.ts";
import type { Check } from "./checks/check-list.ts";
import type { CheckReport } from "./checks/checks.ts";
import { describeCheck, renderBaseline } from "./checks/describe.ts";
import { renderAnswerForm, renderLearning } from "./ending/answer-form.ts";
import { showLook } from "./evidence.ts";
import type { BatchReport, CallReport } from "./perform.ts";
import type { Left } from "./progress.ts";
import type { Run } from "./run.ts";

/** Characters of the diff that a later phase is shown. */
const maxOfDiff = 12_000;

const cutText = (text: string, maxLength: number) =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength)}\n[… the rest of the diff is not shown]`;

const renderStep = ({ action, target, destination, purpose }: PlanStep, at: number) =>
  `${at + 1}. ${action} ${target}${destination === null ? "" : ` → ${destination}`}${purpose === "" ? "" : ` — ${purpose}`}`;

/** The plan's success criteria; "": it has none. */
export function renderCriteria({ analysis }: Plan): string {
  const criteria = (analysis?.success_criteria ?? []).map((each) => each.trim()).filter((each) => each !== "");
  return criteria.length === 0 ? "" : `Done when:\n${criteria.map((each) => `- ${each}`).join("\n")}`;
}

/** How many replies are left for the work, and what this one must therefore do. */
export function renderTurns(left: number): string {
  const head = `turns left: ${left}, this one included.`;
  if (left <= 1) return `${head} Do all of it now, and end with FINISH.`;
  return `${head} Missing something? READ it and leave out FINISH. Otherwise end with FINISH.`;
}

/** What a request for work holds besides its evidence. */
export interface AskedExecution {
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

/** The user message of the first execution call: evidence first, the task last. */
export function renderTask(run: Run, plan: Plan, evidence: string, { checks, turns }: AskedExecution): string {
  const parts = [evidence];
  if (run.task.context !== null) parts.push(fence("context", {}, run.task.context));
  const last = run.task.history.at(-1);
  if (last !== undefined) parts.push(fence("conversation", {}, `user: ${last.request}\npai: ${last.answer}`));
  const where = plan.analysis?.target_identification ?? "";
  const steps = workOf(plan);
  const done = checks.flatMap(({ command, by }) => (by === "plan" ? [`- ${command}`] : [])).join("\n");
  parts.push(
    `Plan${where === "" ? "" : ` (${where})`}:\n${steps.map(renderStep).join("\n")}`,
    renderCriteria(plan),
    renderNotRun(run),
    renderBaseline(run.checking),
    done === "" ? "" : `Checks that pai runs after it (no RUN needed):\n${done}`,
    turns === null ? "" : renderTurns(turns),
    renderRequest(run),
    renderLearning(run.ending),
    renderAnswerForm(run.ending),
  );
  return parts.filter(Boolean).join("\n\n");
}

const renderCall = ({ name, target, ok, text }: CallReport) => {
  if (ok && !text.includes("\n")) return `done: ${name} ${target}${text === "" ? "" : ` (${text})`}`;
  return `${ok ? "done" : "FAILED"}: ${name} ${target}\n${text.includes("\n") ? fence("result", {}, text) : text}`;
};

/** The results of calls, one after another; of a successful look only that it was done. */
export function renderCalls(reports: readonly CallReport[]): string {
  return reports
    .map((report) => renderCall(report.kind === "look" && report.ok ? { ...report, text: "" } : report))
    .join("\n");
}

/** How a phase ended. */
export interface PhaseResults {
  readonly batch: BatchReport;
  readonly left: Left;
  readonly notes: readonly string[];
  readonly checks: readonly CheckReport[];
  /** Files whose edits failed twice. */
  readonly stubborn: readonly RelPath[];
  /** The tag that closes bodies. */
  readonly tag: string;
  /** Replies that are left for the work, the next one included. */
  readonly turns: number;
  /** The request shows the current files, so that no diff is needed. */
  readonly isFresh: boolean;
}

/** How many deleted lines in a row a diff shows: the model knows them, or no longer needs them. */
const maxDeleted = 6;

/** The diff with long runs of deleted lines replaced by their number. */
function foldDeleted(diff: string): string {
  const folded: string[] = [];
  let run: string[] = [];
  const flush = () => {
    folded.push(...run.slice(0, maxDeleted));
    if (run.length > maxDeleted) folded.push(`[… ${run.length - maxDeleted} more deleted lines]`);
    run = [];
  };
  for (const line of diff.split("\n")) {
    if (line.startsWith("-") && !line.startsWith("--- ")) run.push(line);
    else {
      flush();
      folded.push(line);
    }
  }
  flush();
  return folded.join("\n");
}

/** The forms of actions, for a model whose reply could not be used. */
export const renderForms = (tag: string): string =>
  `Send an existing file's change as MODIFY::path::${tag}, <<<<<<< SEARCH, its lines, =======, the new lines, >>>>>>> REPLACE, END::${tag}; a new file as WRITE::path::${tag}, its lines, END::${tag}; then FINISH::${tag}, the message, END::${tag}.`;

/** The diff of existing files, so that the model sees unintended effects of edits and commands; "": there is none. */
function renderDiff(run: Run, { changes }: BatchReport): string {
  const edited = changes.filter(({ before, after }) => before !== null && after !== null);
  return edited.length === 0
    ? ""
    : fence("diff", {}, cutText(foldDeleted(renderChanges(run.veiled.hideChanges(edited))), maxOfDiff));
}

/** Asks for a whole file instead of edits, and shows the file again if it has changed since the model saw it. */
async function renderStubborn(run: Run, path: RelPath): Promise<string> {
  const blob = await run.overlay.read(path);
  const shown = run.overlay.shown(path);
  const same = blob?.kind === "file" && shown !== null && Buffer.compare(blob.bytes, shown) === 0;
  const now = same ? null : await showFile(run, path);
  const ask = `Edits of ${path} failed twice: send the whole file with WRITE::${path} instead.`;
  return now === null ? ask : `${now.text}\n${ask}`;
}

/** The user message of a later phase: what is done, what failed and why, what is still to do. */
export async function renderResults(
  run: Run,
  { batch, left, notes, checks, stubborn, tag, turns, isFresh }: PhaseResults,
): Promise<string> {
  const looks = batch.reports.filter(({ kind }) => kind === "look");
  const rest = batch.reports.filter(({ kind }) => kind !== "look");
  const shown = await Promise.all(looks.map((report) => showLook(run, report)));
  const failed = checks.filter(({ passed }) => passed === false);
  const parts = [
    ...shown,
    rest.length > 0 ? `Results. What is done is done: do not send it again.\n${rest.map(renderCall).join("\n")}` : "",
    isFresh ? "" : renderDiff(run, batch),
    ...(await Promise.all(stubborn.map((path) => renderStubborn(run, path)))),
    ...notes,
    ...failed.map((check) => describeCheck(check)),
    left.code === "reply_invalid" ? `Your last reply could not be used: ${left.message}.\n${renderForms(tag)}` : "",
    left.open.length > 0 ? `Still to do from the plan:\n${left.open.map((claim) => `- ${claim}`).join("\n")}` : "",
    renderTurns(turns),
    failed.length > 0
      ? "Your edits are in the files now. Correct what the failed check shows: an action script again, ended with FINISH."
      : "Answer with an action script again, of only what is left, ended with FINISH (alone when nothing is).",
  ];
  return parts.filter(Boolean).join("\n\n");
}
