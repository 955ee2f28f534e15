/** eight-step: schedule, then think, act, judge and heal step by step, then a summary. */

import { toPaiError } from "../core/error.ts";
import type { Message } from "../core/model.ts";
import { readSchedule } from "../core/plan/parse-schedule.ts";
import { promiseOfSchedule } from "../core/plan/promise.ts";
import { describeSchedule } from "../core/plan/reply-schemas.ts";
import type { Schedule } from "../core/plan/schedule.ts";
import type { PlanClaim } from "../core/plan/scope.ts";
import { readNext } from "../core/script/body.ts";
import { ask } from "./ask.ts";
import { renderRequest } from "./briefing/briefing.ts";
import { renderAnswerForm } from "./ending/answer-form.ts";
import { createIterations, type Iterations, showStep } from "./iteration.ts";
import { makePlan } from "./planning.ts";
import type { PlanKind } from "./plans/find-plan.ts";
import { schedulePrompt, summaryPrompt } from "./prompts/prompts.ts";
import type { Flow, Run } from "./run.ts";

/** The plan of eight-step: a schedule. */
export const eightStepPlan: PlanKind<Schedule> = {
  system: schedulePrompt(),
  format: { name: "schedule", schema: describeSchedule() },
  readValue: readSchedule,
  planOf: ({ plan }) => plan,
  looks: ({ plan }) => plan.intent === "look",
  promise: promiseOfSchedule,
};

const renderSteps = ({ steps }: Schedule) =>
  steps.map(({ title, hint }, at) => `${at + 1}. ${title}${hint === "" ? "" : `: ${hint}`}`).join("\n");

/** Splits the summary into its NEXT lines and its text, and records both. */
function keepSummary(run: Run, text: string): void {
  const lines = text.trim().split("\n");
  run.ending.next = lines.flatMap((line) => readNext(line) || []);
  run.ending.text = lines
    .filter((line) => readNext(line) === null)
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** Whether the run only gave an answer: a summary would replace it with other words. */
const isAnswer = ({ begun, changing }: Run, { answer }: Iterations) =>
  answer !== "" && changing.staged.length === 0 && (begun?.changes.length ?? 0) === 0;

/** A check's result in words. */
const resultWords: Readonly<Record<string, string>> = { true: "passed", false: "failed", null: "not run" };

/** Asks for the summary. When the model gives none, the run's verdicts take its place, so that the work is not lost. */
async function summarize(run: Run, schedule: Schedule, iterations: Iterations): Promise<void> {
  showStep(run, 8, "summary", "");
  if (isAnswer(run, iterations)) {
    run.ending.text ||= iterations.answer;
    return;
  }
  const checks = run.checking.results.map(({ command, passed }) => `- ${command}: ${resultWords[`${passed}`]}`);
  const parts = [
    renderRequest(run),
    renderAnswerForm(run.ending),
    `Schedule:\n${renderSteps(schedule)}`,
    `What happened:\n${iterations.story}`,
    checks.length === 0 ? "" : `Checks at the end:\n${checks.join("\n")}`,
  ];
  const said = parts.filter((part) => part !== "").join("\n\n");
  run.ledger.reserve(0);
  const messages: Message[] = [{ role: "user", text: said }];
  try {
    keepSummary(run, (await ask(run, { purpose: "summary", system: summaryPrompt(), messages, format: null })).text);
  } catch (thrown) {
    run.signal.throwIfAborted();
    const text = `the model wrote no summary: ${toPaiError(thrown).message}`;
    run.emit({ type: "notice", level: "warning", code: "no_summary", text });
    run.ending.text ||= iterations.verdicts;
  }
  run.ending.next = [...new Set([...run.ending.next, ...iterations.improvements])];
}

/** Works through an approved schedule. Throws the failure of a step that stayed failed. */
export async function followSchedule(run: Run, schedule: Schedule, claims: readonly PlanClaim[]): Promise<void> {
  const { plan, steps } = schedule;
  run.planning.steps = steps;
  showStep(run, 1, "classify", `task, ${plan.intelligence_notes?.complexity_assessment ?? "moderate"}`);
  showStep(run, 2, "respond", plan.reply);
  showStep(run, 3, "schedule", renderSteps(schedule));
  const iterations = await createIterations(run, schedule, claims);
  for (const at of steps.keys()) {
    const complete = await iterations.work(at);
    const rest = steps.slice(at + 1);
    if (complete && rest.length > 0) {
      const text = `covered already: ${rest.map(({ title }) => title).join("; ")}`;
      run.emit({ type: "notice", level: "info", code: "steps_covered", text });
      break;
    }
  }
  await summarize(run, schedule, iterations);
}

export const eightStep: Flow = async (run) => {
  const { made, plan, claims } = await makePlan(run, eightStepPlan);
  if (plan.intent === "conversation") run.ending.text = plan.reply;
  else if (!run.planning.planOnly) await followSchedule(run, { ...made, plan }, claims);
};
