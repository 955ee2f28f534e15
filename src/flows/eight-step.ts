/** eight-step: schedule, then think, act, judge and heal step by step, then a summary. */

import { squash } from "../core/change.ts";
import { renderChanges } from "../core/diff.ts";
import { type ErrorCode, PaiError, toPaiError } from "../core/error.ts";
import type { Message, Purpose } from "../core/model.ts";
import {
  describeSchedule,
  meanOf,
  readSchedule,
  type Schedule,
  type ScheduleStep,
  type StepVerdict,
} from "../core/plan/parse-schedule.ts";
import { promiseOfSchedule } from "../core/plan/promise.ts";
import { type PlanClaim, undoneStep } from "../core/plan/scope.ts";
import { readNext } from "../core/script/body.ts";
import type { Script } from "../core/script/script.ts";
import { rowOf } from "../core/vocabulary.ts";
import { ask } from "./ask.ts";
import { renderRequest } from "./briefing/briefing.ts";
import { acceptMeanwhile, tellMeanwhile } from "./changes/meanwhile.ts";
import { checksOf } from "./checks/admit.ts";
import type { CheckReport } from "./checks/checking.ts";
import { describeFailed, finishBaseline, judgeAnew, runChecks, runPlanChecks } from "./checks/checks.ts";
import { hasOwnWork, redCommands } from "./commands/commands.ts";
import { tellChanged } from "./dialogue.ts";
import { renderAnswerForm } from "./ending/ending.ts";
import { collectEvidence, showLook } from "./evidence.ts";
import type { BatchReport, CallReport } from "./perform.ts";
import { renderCalls, renderForms, renderSkipped, renderTask, runLate, takeSkips } from "./phases.ts";
import { makePlan, type PlanKind } from "./planning.ts";
import { createProgress } from "./progress.ts";
import { actPrompt, schedulePrompt, summaryPrompt } from "./prompts/prompts.ts";
import {
  askForScript,
  keepFinish,
  performAsWished,
  proseOf,
  type ScriptQuestion,
  type ScriptReply,
  type ScriptWork,
  wasCut,
} from "./replies.ts";
import type { Flow, Run } from "./run.ts";
import { mayEndInPart, rightsOf } from "./single-shot.ts";
import { type Act, explainCheck, judgeStep, renderTitle, renderVerdict } from "./verdict.ts";

export const eightStepPlan: PlanKind<Schedule> = {
  system: schedulePrompt,
  format: { name: "schedule", schema: describeSchedule() },
  readValue: readSchedule,
  planOf: ({ plan }) => plan,
  promise: promiseOfSchedule,
};

const renderSteps = ({ steps }: Schedule) =>
  steps.map(({ title, hint }, at) => `${at + 1}. ${title}${hint === "" ? "" : `: ${hint}`}`).join("\n");

function keepSummary(run: Run, text: string): void {
  const lines = text.trim().split("\n");
  run.ending.next = lines.flatMap((line) => readNext(line) || []);
  run.ending.heard = null;
  run.ending.text = lines
    .filter((line) => readNext(line) === null)
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

const resultWords: Readonly<Record<string, string>> = { true: "passed", false: "failed", null: "not run" };

/** Asks for the summary. When the model gives none, the run's verdicts take its place, so that the work is not lost. */
async function summarize(run: Run, schedule: Schedule, iterations: Iterations): Promise<void> {
  showStep(run, 8, "summary", "");
  // A summary would replace an answer with other words.
  if (iterations.answer !== "" && !hasOwnWork(run)) {
    run.ending.text ||= iterations.answer;
    return;
  }
  const checks = run.checking.results.map(({ command, passed }) => `- ${command}: ${resultWords[`${passed}`]}`);
  const undone = run.ending.undone.map(({ action, target }) => `- ${action} ${target}`);
  const parts = [
    renderRequest(run),
    renderAnswerForm(run.ending),
    `Schedule:\n${renderSteps(schedule)}`,
    `What happened:\n${iterations.story.join("\n")}`,
    await tellMeanwhile(run, { all: true }),
    undone.length === 0 ? "" : `Not done:\n${undone.join("\n")}`,
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
    run.ending.text ||= iterations.story.map((told) => told.split("\n", 1)[0]).join("\n");
  }
  run.ending.next = [...new Set([...run.ending.next, ...iterations.improvements])];
}

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

function showStep(run: Run, step: number, title: string, text: string): void {
  run.emit({ type: "step.started", step, of: 8, title, text });
}

type Iterations = Awaited<ReturnType<typeof createIterations>>;

/** The faults that need no verdict: failed actions, failed checks, and `open`, promised work that is not done. */
function faultsOf({ work, checks }: Act, open: readonly string[]): string[] {
  const failed = work.batch.reports.filter(({ kind, code }) => code !== null && kind !== "look" && code !== "declined");
  const broken = checks.filter(({ fatal }) => fatal);
  return [
    ...failed.map(({ name, target, text }) => `${name} ${target}: ${text}`),
    ...broken.map((check) => `${describeFailed(check)}\n${check.output}`),
    ...open.map((claim) => `promised and not done: ${claim}`),
  ];
}

function codeOf({ checks }: Act, failure: CallReport | null, open: readonly string[]): ErrorCode {
  if (checks.some(({ fatal }) => fatal)) return "check_failed";
  // A step does not fail for what the person declined.
  const code = failure?.code === "declined" ? null : failure?.code;
  return code ?? (open.length > 0 ? "nothing_done" : "check_failed");
}

function renderFaults({ passed, reasons, next_fix }: StepVerdict, faults: readonly string[]) {
  const fixes = next_fix.map((fix) => `fix: ${fix}`);
  const short = faults.map((fault) => fault.split("\n", 1)[0]);
  const told = [...short, ...(passed ? [] : reasons), ...fixes].map((reason) => `- ${reason}`);
  return { shown: [...short, ...fixes.map((fix) => fix.split("\n", 1)[0])].join("\n"), told: told.join("\n") };
}

/**
 * Why a step is not healed; null: it is healed, because no fault is left, and either only open steps made it fail
 * (`isSound`), or a check passes, or all actions of the healing worked and changed something.
 */
function whyStillFailed({ work, checks }: Act, [fault]: readonly string[], verdict: StepVerdict, isSound: boolean) {
  if (fault !== undefined || isSound) return fault ?? null;
  const proven = checks.some(({ passed }) => passed === true);
  const mended = work.batch.changed && work.batch.reports.every(({ code }) => code === null);
  return proven || mended ? null : (verdict.reasons[0] ?? "it did not pass");
}

async function renderNews(run: Run, { batch, notes }: ScriptWork, checks: readonly CheckReport[], meanwhile: string) {
  const isLook = ({ kind, ok }: CallReport) => kind === "look" && ok;
  const shown = await Promise.all(batch.reports.filter(isLook).map((report) => showLook(run, report)));
  const done = renderCalls(batch.reports.filter((report) => !isLook(report)));
  const failed = checks.filter(({ passed }) => passed === false).map(explainCheck);
  return [...shown, [done, meanwhile, ...notes].filter((part) => part !== "").join("\n"), ...failed]
    .filter((part) => part !== "")
    .join("\n\n");
}

function answerOf({ actions }: Script, prose: string): string {
  if (actions.some(({ cmd }) => rowOf(cmd)?.kind !== "finish")) return "";
  return actions[0]?.arg || prose;
}

/** Prepares the work on all steps. Throws conflict when a promised path has changed since it was read. */
async function createIterations(run: Run, schedule: Schedule, claims: readonly PlanClaim[]) {
  const { plan, steps } = schedule;
  const rights = rightsOf(plan, claims);
  const progress = createProgress(run, plan, claims);
  run.ending.open = () => progress.openSteps;
  const system = actPrompt(run.changing.strict);
  const before = await finishBaseline(run);
  // The schedule, and perhaps a person's approval, refers to the files as they were when it was made.
  await acceptMeanwhile(run, claims);
  const { text: evidence, batch: seen } = await collectEvidence(run, plan, rights, system);
  progress.absorb(seen);
  const checks = run.changing.dryRun ? [] : checksOf(run);
  if (progress.promisesChanges) await runPlanChecks(run, checks);
  const allBefore = [...before, ...run.checking.plannedBefore];
  const passedBefore = new Set(allBefore.flatMap(({ command, passed }) => (passed === true ? [command] : [])));
  const scores: (number | null)[] = [];
  const story: string[] = [];
  const improvements: string[] = [];
  let answer = "";
  let messages: readonly Message[] = [];
  let news = renderTask(run, plan, evidence, { checks, turns: null });
  /** What ran before the first reply, which its step has done. */
  let early = seen.reports.filter(({ kind }) => kind === "command");
  const stepAt = (at: number): ScheduleStep => steps[at] ?? { title: "", hint: "" };
  const isLast = (at: number) => at === steps.length - 1;
  /** Promised work that is not done; only the last step fails for it. */
  const openAt = (at: number) => (isLast(at) ? progress.open : []);

  /** Before the last step a FINISH alone is no word on the steps to come. */
  const takeLeftOut = (at: number, script: Script) => {
    const actions = script.actions.filter(({ cmd }) => isLast(at) || cmd !== "FINISH");
    return takeSkips(run, plan, { ...script, actions }, progress);
  };

  const runOpen = async (batch: BatchReport) =>
    progress.open.length > 0 || progress.failure !== null ? batch : runLate({ run, plan, rights, progress }, batch);

  /** Performs what a reply asks for, and what the plan still runs once the last reply is there. */
  const perform = async (purpose: Purpose, at: number, first: ScriptReply, question: ScriptQuestion) => {
    const keep = (said: readonly Message[]) => {
      messages = said;
    };
    const how = { rights, prefix: `${purpose}${at + 1}`, planned: progress.steps, keep };
    const { asked, work } = await performAsWished(run, first, question, how);
    progress.absorb(work.batch);
    const finished = keepFinish(run.ending, asked.script);
    const whole = !wasCut(asked.script) && !work.overflow;
    const unskipped = whole ? await takeLeftOut(at, asked.script) : [];
    const batch = isLast(at) || finished ? await runOpen(work.batch) : work.batch;
    return { asked, finished, whole, unskipped, work: { ...work, batch, notes: [...work.notes, ...unskipped] } };
  };

  const runDue = async (purpose: Purpose, at: number, isDue: boolean): Promise<readonly CheckReport[]> => {
    // Somebody may have mended the fault by hand, so that a repair had nothing to do.
    const reports = isDue ? await runChecks(run, checks) : purpose === "heal" ? await judgeAnew(run) : [];
    return reports.map((report) => judgeLater(report, at));
  };

  const act = async (purpose: Purpose, at: number, request: string): Promise<Act> => {
    const parts = [news, await tellChanged(run, false), request];
    messages = [...messages, { role: "user", text: parts.filter((part) => part !== "").join("\n\n") }];
    const question: ScriptQuestion = { purpose, system, messages, targets: progress.targets };
    const first = await askForScript(run, question);
    const begun = proseOf(first);
    // Step 7 has been shown already, with the faults to repair.
    if (purpose !== "heal") showStep(run, 5, "act", begun);
    else if (begun !== "") showStep(run, 7, "heal", begun);
    const from = run.begun?.changes.length ?? 0;
    const { skipped } = run.ending;
    const isOverdue = isLast(at) && !passesChecks();
    const { asked, work, unskipped, ...ended } = await perform(purpose, at, first, question);
    const changes = run.changing.dryRun ? run.changing.staged : squash((run.begun?.changes ?? []).slice(from));
    const isDue = (work.batch.changed || isOverdue) && !run.changing.dryRun;
    const reports = await runDue(purpose, at, isDue);
    const { seen, tag } = asked;
    const unusable = seen === "" ? "" : `Your last reply could not be used: it held ${seen}.\n${renderForms(tag)}\n\n`;
    const meanwhile = await tellChanged(run, false);
    news = unusable + (await renderNews(run, work, reports, meanwhile));
    answer = answerOf(asked.script, proseOf(asked));
    const left = run.ending.skipped.filter((each) => !skipped.includes(each)).map(renderSkipped);
    const done = [renderCalls([...early, ...work.batch.reports]), ...left, ...unskipped].filter(Boolean).join("\n");
    early = [];
    const diff = renderChanges(run.veiled.hideChanges(changes));
    return { work, done, meanwhile, checks: reports, ...ended, answer, diff };
  };

  const passesChecks = () => run.checking.results.every(({ passed }) => passed !== false);

  /** A check that failed before the work began may fail until the last step. */
  const judgeLater = (report: CheckReport, at: number): CheckReport =>
    isLast(at) || passedBefore.has(report.command) ? report : { ...report, fatal: false };

  const reserveFrom = (at: number, own: number) => run.ledger.reserve(own + 3 * (steps.length - at - 1) + 1);

  /** Gives the model one chance to mend a step. True: that finished the whole task. Throws if the step stays failed. */
  const heal = async (at: number, verdict: StepVerdict, acted: Act): Promise<boolean> => {
    const faults = faultsOf(acted, openAt(at));
    const isSound = verdict.passed && faultsOf(acted, []).length === 0;
    const { shown, told } = renderFaults(verdict, faults);
    showStep(run, 7, "heal", shown);
    reserveFrom(at, 0);
    const failed = progress.failure;
    const wasOpen = progress.open.length > 0;
    const healed = await act(
      "heal",
      at,
      `Step ${at + 1} ${verdict.passed ? "is not whole yet" : "did not pass"}:\n${told}\nThis is its one repair; turns left after it: ${steps.length - at - 1}. Correct it now, with an action script only.`,
    );
    const open = healed.whole && mayEndInPart(run) ? [] : openAt(at);
    const why = whyStillFailed(healed, faultsOf(healed, open), verdict, isSound);
    if (why !== null) {
      const step = stepAt(at);
      run.ending.next = [];
      throw new PaiError(
        codeOf(healed, progress.failure ?? failed, openAt(at)),
        `step ${at + 1}, ${step.title}, stayed failed: ${why.split("\n", 1)[0]}`,
      );
    }
    const how = healed.done === "" ? "nothing more was done" : "repaired, and not judged again";
    story.push(`${at + 1}. ${stepAt(at).title}: ${how}\n${healed.done}`.trimEnd());
    // What the healing did of later steps is not asked for again.
    return healed.finished || (wasOpen && progress.open.length === 0);
  };

  return {
    get answer(): string {
      return answer;
    },
    story: story as readonly string[],
    /** What verdicts would still improve in steps that passed. */
    improvements: improvements as readonly string[],
    /** Works on one step. True when the model finished the whole task with it. Throws when the step stays failed. */
    async work(at: number): Promise<boolean> {
      const step = stepAt(at);
      showStep(run, 4, `think, ${at + 1} of ${steps.length}: ${step.title}`, step.hint);
      reserveFrom(at, 2);
      const acted = await act(
        "execute",
        at,
        `turns left: ${steps.length - at}, this one included, and a repair of each step that does not pass.\nStep ${at + 1} of ${steps.length}: ${renderTitle(step)}`,
      );
      reserveFrom(at, 1);
      const verdict = await judgeStep(run, plan, step, acted);
      scores.push(verdict.quality_score);
      run.ending.score = meanOf(scores);
      showStep(run, 6, "integrity", [renderVerdict(verdict), ...verdict.reasons].join("\n"));
      story.push(`${at + 1}. ${step.title}: ${renderVerdict(verdict)}\n${acted.done}`);
      if (verdict.passed) improvements.push(...verdict.next_fix);
      // The verdict may miss what the person declined: that is not counted as a fault.
      const isWanted = !acted.work.batch.reports.some(({ code, kind }) => code === "declined" && kind === "change");
      const good = (verdict.passed || !isWanted) && faultsOf(acted, openAt(at)).length === 0;
      const finished = good ? acted.finished : await heal(at, verdict, acted);
      // The score was for the work before the repair, which nobody has scored.
      if (!good) scores[at] = null;
      run.ending.score = meanOf(scores);
      if (isLast(at)) run.ending.undone = progress.openSteps.map((each) => undoneStep(each, "left out in the end"));
      return finished && progress.openSteps.length === 0 && redCommands(run).length === 0 && passesChecks();
    },
  };
}
