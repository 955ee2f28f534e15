/** The requests of the phases of single-shot: what of the plan is done, and what is left. */

import { grantsSome } from "../core/command/run-patterns.ts";
import { fence } from "../core/data-fence.ts";
import { tellOnce } from "../core/dialogue.ts";
import type { RelPath } from "../core/path.ts";
import { type Plan, type PlanStep, workOf } from "../core/plan/plan.ts";
import { renderPastOf, renderRequest } from "./briefing/briefing.ts";
import { renderPiped } from "./briefing/piped.ts";
import { showFile } from "./briefing/sources.ts";
import type { CheckReport } from "./checks/checking.ts";
import { type Check, describeCheck, renderBaseline } from "./checks/checks.ts";
import { tellChanged } from "./dialogue.ts";
import { renderAnswerForm, renderLearning } from "./ending/ending.ts";
import { showLook } from "./evidence.ts";
import type { BatchReport, CallReport } from "./perform.ts";
import type { Left } from "./progress.ts";
import type { Run } from "./run.ts";

const renderStep = ({ action, target, destination, purpose }: PlanStep, at: number) =>
  `${at + 1}. ${action} ${target}${destination === null ? "" : ` → ${destination}`}${purpose === "" ? "" : ` — ${purpose}`}`;

/** The plan's success criteria; "": it has none. */
export function renderCriteria({ analysis }: Plan): string {
  const criteria = (analysis?.success_criteria ?? []).map((each) => each.trim()).filter((each) => each !== "");
  return criteria.length === 0 ? "" : `Done when:\n${criteria.map((each) => `- ${each}`).join("\n")}`;
}

/** How many replies are left for the work, and what this one must therefore do. */
function renderTurns({ ledger }: Run, left: number): string {
  const more = Math.max(0, ledger.promised.at_most - ledger.made - 1);
  const head = `turns left: ${Math.min(left, more + 1)}, this one included${left <= more ? ", and one more for what fails" : ""}.`;
  if (more === 0) return `turns left: 1, this one included. Do all of it now, and end with FINISH.`;
  return `${head} Missing something? READ::path:from-to and leave out FINISH. Otherwise do all of it, and end with FINISH.`;
}

/** What a request for work holds besides its evidence. */
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

/** Characters of the turn before that a call of the work is told. */
const maxOfLastTurn = 12_000;

/**
 * The user message of the first call for the work: what is new, then what is to be done. Where it stands alone, also
 * request, context and plan, which the dialogue holds otherwise.
 */
export function renderTask(run: Run, plan: Plan, evidence: string, { checks, turns }: AskedExecution): string {
  const { task, dialogue } = run;
  const isAlone = dialogue.messages.length === 0;
  const alone = (text: string) => (isAlone ? text : "");
  const last = task.history.slice(-1);
  const where = plan.analysis?.target_identification ?? "";
  const steps = workOf(plan);
  const done = checks.flatMap(({ command, by }) => (by === "plan" ? [`- ${command}`] : [])).join("\n");
  const parts = [
    evidence,
    alone(renderPiped(run)),
    alone(last.length === 0 ? "" : fence("conversation", {}, renderPastOf(run, last, maxOfLastTurn))),
    alone(`Plan${where === "" ? "" : ` (${where})`}:\n${steps.map(renderStep).join("\n")}`),
    alone(renderCriteria(plan)),
    renderNotRun(run),
    tellOnce(dialogue, "checks", renderBaseline(run.checking)),
    alone(done === "" ? "" : `Checks that pai runs after it (no RUN needed):\n${done}`),
    turns === null ? "" : renderTurns(run, turns),
    alone(renderRequest(run)),
    renderLearning(run.ending),
    alone(renderAnswerForm(run.ending)),
    isAlone ? "Carry out the plan: an action script." : "The plan is approved. Carry it out: an action script.",
  ];
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
interface PhaseResults {
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
}

/** The forms of actions, for a model whose reply could not be used. */
export const renderForms = (tag: string): string =>
  `Send an existing file's change as MODIFY::path::${tag}, <<<<<<< SEARCH, its lines, =======, the new lines, >>>>>>> REPLACE, END::${tag}; a new file as WRITE::path::${tag}, its lines, END::${tag}; then FINISH::${tag}, the message, END::${tag}.`;

/** Asks for a whole file instead of edits, and shows it again. */
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
    ? "These failures are old: the check failed in the same way before your work. Mend them only if the task asks for it; otherwise send FINISH alone."
    : "Correct what the failed check shows: an action script again, ended with FINISH.";

/** The user message of a later phase: what is done, what failed and why, what is still to do. */
export async function renderResults(
  run: Run,
  { batch, left, notes, checks, stubborn, tag, turns }: PhaseResults,
): Promise<string> {
  // What the model wrote, and what commands and other people did to the files that it knows.
  const changed = await tellChanged(run);
  const looks = batch.reports.filter(({ kind }) => kind === "look");
  const rest = batch.reports.filter(({ kind }) => kind !== "look");
  const shown = await Promise.all(looks.map((report) => showLook(run, report)));
  const failed = checks.filter(({ passed }) => passed === false);
  const parts = [
    ...shown,
    rest.length > 0 ? `Results. What is done is done: do not send it again.\n${rest.map(renderCall).join("\n")}` : "",
    changed,
    ...(await Promise.all(stubborn.map((path) => renderStubborn(run, path)))),
    ...notes,
    ...failed.map((check) => describeCheck(check)),
    left.code === "reply_invalid" ? `Your last reply could not be used: ${left.message}.\n${renderForms(tag)}` : "",
    left.open.length > 0 ? `Still to do from the plan:\n${left.open.map((claim) => `- ${claim}`).join("\n")}` : "",
    renderTurns(run, turns),
    failed.length > 0
      ? `Your edits are in the files now. ${renderRepair(failed)}${run.changing.strict ? "" : " A file beyond the plan: AMEND::MODIFY::path::why before it; a step that is not needed: SKIP::path::why."}`
      : "Answer with an action script again, of only what is left, ended with FINISH (alone when nothing is).",
  ];
  return parts.filter(Boolean).join("\n\n");
}
