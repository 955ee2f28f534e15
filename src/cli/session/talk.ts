/** A session at the terminal: its state, one turn of it, and Ctrl+C that ends the turn but not the session. */

import { approvalWording } from "../../core/approval-wording.ts";
import type { Dialogue } from "../../core/dialogue.ts";
import { PaiError } from "../../core/error.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { rowOf } from "../../core/vocabulary.ts";
import { resumePlan } from "../../flows/auto.ts";
import { withCorrections } from "../../flows/briefing/briefing.ts";
import type { ApprovedWork } from "../../flows/plans/plan-state.ts";
import type { Flow, Run, Task } from "../../flows/run.ts";
import { singleShot } from "../../flows/single-shot.ts";
import type { InputHistory } from "../../store/input-history.ts";
import type { OpenSession, Sessions } from "../../store/sessions.ts";
import type { Settings } from "../../store/settings.ts";
import { counted, priced } from "../../ui/amount.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import { askForMentions } from "../at-paths.ts";
import type { Context } from "../command.ts";
import type { ComposedModel } from "../compose/compose-model.ts";
import type { Composed } from "../compose/compose-task.ts";
import { notifyEnd } from "../compose/notify-end.ts";
import { composeOptions, flowFor, limitTime } from "../compose/options.ts";
import type { TerminalView } from "../compose/view.ts";
import { continueWith } from "./continue-session.ts";
import { type Ahead, hold, type KeyWatch, watchKeys } from "./watch-keys.ts";
import type { TruthWatch } from "./watch-truth.ts";

const twiceMs = 2000;

/** Milliseconds after a task was stopped in which another Ctrl+C is taken as meant for the task. */
const stopGraceMs = 1500;

/** Milliseconds after which one more Ctrl+C abandons work that has not stopped. */
const stuckMs = 3000;

export interface Talk {
  readonly context: Context;
  readonly view: TerminalView;
  readonly composed: Composed;
  readonly sessions: Sessions;
  open: OpenSession;
  readonly input: InputHistory;
  mode: Settings["mode"];
  effort: Settings["effort"];
  /** Chosen by /model; undefined: the model of the settings. */
  model: ComposedModel | undefined;
  /** Time of the last Ctrl+C at an empty prompt, in ms; 0: another key followed it. */
  interruptedAt: number;
  stoppedAt: number;
  /** What was last said of the sandbox and the briefing, by code, which holds for the tasks that follow. */
  readonly told: Map<string, string>;
  /** Totals of the tasks so far; `cost` in USD, null: some price is unknown. */
  spent: { readonly calls: number; readonly tokens: number; readonly cost: number | null };
  readonly truth: TruthWatch;
  readonly ahead: Ahead;
  readonly files: () => Promise<readonly string[]>;
  /** All that the looks, commands and checks of the last task with any said, or the user's own last command. */
  outputs: readonly { readonly title: string; readonly text: string }[];
  /** What the model has been told by tasks with a plan; the next one goes on from it. */
  readonly dialogue: Dialogue;
  /** The last line was /rewind alone, which lists the turns: a number alone now means a turn of that list. */
  turnsListed: boolean;
  /** The plan that a yes carries out: the last one of `/plan`, or an approved one that was interrupted. null: none. */
  planned: Planned | null;
}

export interface Planned {
  readonly task: string;
  readonly typed: string;
  readonly run: string;
  readonly plan: Plan;
  /** The approved work with its mode; null: not approved yet, so it will be shown and asked about. */
  readonly approved: (Omit<ApprovedWork, "plan"> & { readonly mode: Mode }) | null;
  /** A yes to it is the approval, as it was shown to its end; false: its question was interrupted. */
  readonly isYes: boolean;
}

type Mode = Settings["mode"];

/** The way of working of a session: without a choice of the user the one that may search. */
export const usualMode = ({ origins, settings }: Composed["base"]): Mode =>
  origins["mode"] === "default" ? "auto" : settings.mode;

/** Whether the event says what an earlier task of the session has said, and what holds for all. Notes what it says. */
function isToldAgain(talk: Talk, event: Parameters<TerminalView["sink"]>[0]): boolean {
  if (event.type !== "notice" || !["sandbox", "context"].includes(event.code)) return false;
  const isAgain = talk.told.get(event.code) === event.text;
  talk.told.set(event.code, event.text);
  return isAgain;
}

function outputOf(event: Parameters<TerminalView["sink"]>[0]): Talk["outputs"][number] | null {
  if (event.type === "check.finished") return { title: `$ ${event.command}`, text: event.output };
  if (event.type !== "look.shown") return null;
  const { action, target, text } = event;
  const title = rowOf(action)?.kind === "command" ? `$ ${target}` : `${action} ${target}`.trimEnd();
  return { title, text };
}

export function showQueue({ ahead, context, view }: Talk): void {
  for (const line of ahead.lines) context.err(`${view.style.paint("dim", visibleLine(`then: ${line}`))}\n`);
}

export const tell = ({ view }: Talk, code: string, text: string): void => view.notify({ level: "info", code, text });

/** What an interrupt at an empty prompt means: the second in a row leaves; one behind a stopped task means nothing. */
export function countInterrupt(talk: Talk): "leave" | "ask" | "ignore" {
  const now = talk.context.now().getTime();
  if (now - talk.stoppedAt < stopGraceMs) return "ignore";
  const twice = now - talk.interruptedAt < twiceMs;
  talk.interruptedAt = now;
  return twice ? "leave" : "ask";
}

/** Runs `work` so that Ctrl+C or Escape ends it, but not the session. Pause `watch` while a question is asked. */
export async function whileInterruptible<T>(
  talk: Talk,
  work: (signal: AbortSignal, watch: KeyWatch) => Promise<T>,
): Promise<T> {
  const { context, composed } = talk;
  const controller = new AbortController();
  const stop = () => {
    const now = context.now().getTime();
    if (!controller.signal.aborted) {
      talk.stoppedAt = now;
      controller.abort(new PaiError("interrupted", "interrupted"));
    } else if (now - talk.stoppedAt > stuckMs) process.exit(130);
  };
  context.onInterrupt(stop);
  const both = AbortSignal.any([context.signal, controller.signal]);
  const limited = limitTime(both, composed.base.settings.limits.timeout);
  const { ahead, view } = talk;
  view.typed = () => ({ queued: ahead.lines, typing: ahead.text });
  const watch = watchKeys(stop, ahead, view.refresh);
  try {
    return await work(limited.signal, watch);
  } finally {
    watch.stop(controller.signal.aborted);
    if (controller.signal.aborted) talk.stoppedAt = context.now().getTime();
    talk.interruptedAt = 0;
    limited.end();
    context.onInterrupt(null);
  }
}

/** The task of a message, with everything that goes with it. Throws path_refused for a denied file after `@`. */
export async function taskOf(
  talk: Talk,
  text: string,
  typed: string,
  decide: TerminalView["decide"] = talk.view.decide,
): Promise<Task> {
  const files = await askForMentions(talk.composed.opened, typed, decide);
  return continueWith({ text, context: null, files }, talk);
}

export function addSpent({ calls, tokens, cost }: Talk["spent"], outcome: Outcome): Talk["spent"] {
  return {
    calls: calls + (outcome.calls.sent ?? outcome.calls.made),
    tokens: tokens + outcome.usage.input + outcome.usage.output,
    cost: cost === null || outcome.cost === null ? null : cost + outcome.cost,
  };
}

/** "3 calls, 4,120 tokens, $0.0012": totals of this session's tasks since it was opened. */
export function renderSpent({ spent: { calls, tokens, cost } }: Talk): string {
  return `${counted(calls, "call")}, ${counted(tokens, "token")}, ${priced(cost)}`;
}

export interface TurnOptions {
  /** The part that the user typed, which alone may mention files by `@`; absent: all of it. */
  readonly typed?: string;
  /** A flow for plans, whatever the mode; absent: the flow of the mode. */
  readonly flow?: Flow;
  readonly shown?: Plan;
  /** The user has said yes to `shown`, which holds for a question that says no more. */
  readonly isYes?: boolean;
  readonly planOnly?: boolean;
  readonly mode?: Mode;
  readonly approved?: ApprovedWork;
}

/** Keeps the plan of an interrupted run for a yes, which goes on with it where it was approved, and else shows it again. */
function keepPlan(talk: Talk, { text }: Task, typed: string, { id, planning, changing }: Run): void {
  const { plan, approved: isApproved, wantsReview: review, steps, mode } = planning;
  // Eight-step cannot go on from its plan: it needs the schedule that it makes from the plan.
  if (plan?.intent !== "task" || (!isApproved && mode === "eight-step")) return;
  const approved = isApproved ? { steps, review, mode: mode as Mode } : null;
  const task = withCorrections(text, [...planning.corrections, ...changing.corrections]);
  talk.planned = { task, typed, run: id, plan, approved, isYes: false };
  const way = talk.ahead.isHeld ? "Enter sends the line at the prompt; clear it (Ctrl+U), then y" : "y";
  const what = isApproved ? "carries the plan on, without planning again" : "asks about this plan again";
  tell(talk, "plan", `${way} ${what}`);
}

export async function runTurn(talk: Talk, text: string, turn: TurnOptions): Promise<Outcome> {
  const { context, view, composed, open, model } = talk;
  const { typed = text, flow, shown, planOnly = false, approved } = turn;
  const mode = turn.mode ?? (flow === undefined ? talk.mode : "single-shot");
  return whileInterruptible(talk, async (signal, watch) => {
    const decide: TerminalView["decide"] = async (question) => {
      const dropped = watch.pause().join(", ");
      if (dropped !== "") tell(talk, "ahead", `typed before this question, so no answer to it: ${dropped}`);
      showQueue(talk);
      return view.decide(question).finally(watch.resume);
    };
    let outputs: Talk["outputs"] = [];
    const sink: TerminalView["sink"] = (event) => {
      const isYesTo = event.type === "run.started" && (shown ?? approved) !== undefined;
      talk.truth.sink(open, isYesTo ? { ...event, task: `y, to the plan for: ${event.task}` } : event);
      const output = outputOf(event);
      if (output !== null) talk.outputs = outputs = [...outputs, output];
      const isShown = shown !== undefined && event.type === "notice" && event.code === "plan_cached";
      if (!isShown && !isToldAgain(talk, event)) view.sink(event);
    };
    const said = await taskOf(talk, text, typed, decide);
    const task = composed.tellTools(said);
    let isYes = turn.isYes === true && said.context === null;
    const answer: TerminalView["decide"] = async (question) => {
      const isSaid = isYes && question.kind === "plan" && question.text === approvalWording.plan([], [], [], "");
      isYes = false;
      return isSaid ? { accept: true, by: "user", reason: "yes to the plan that was shown" } : decide(question);
    };
    const base = composeOptions(context, composed.base, "run", view.interactive);
    const keep = base.keep || mode === "tool-loop";
    const options = { ...base, keep, mode, effort: talk.effort, planOnly, ...(approved && { approved }) };
    context.err("\n");
    const work = flow ?? (await flowFor(mode));
    let begun: Run | null = null;
    const keeping: Flow = (run) => {
      begun = run;
      return work(run);
    };
    const outcome = await composed.run(keeping, { task, options, sink, signal, decide: answer, model, shown });
    view.finish(outcome);
    notifyEnd(context, composed.base, outcome, { task: composed.cover(typed), notify: view.notify });
    talk.spent = addSpent(talk.spent, outcome);
    if (outcome.status === "interrupted") hold(talk.ahead);
    if (begun !== null && outcome.status === "interrupted") keepPlan(talk, said, typed, begun);
    return outcome;
  });
}

export async function planTurn(talk: Talk, task: string): Promise<void> {
  if (task === "") throw new PaiError("usage", "/plan needs a task", { hint: "/plan add a --version flag" });
  const { run, plan, ok } = await runTurn(talk, task, { flow: singleShot, planOnly: true });
  if (!ok || run === null || plan?.intent !== "task") return;
  talk.planned = { task, typed: task, run, plan, approved: null, isYes: true };
  tell(talk, "plan", "nothing was changed; y carries it out");
}

/** The plan that a yes carries out: that of the session's last turn; null: none. */
export function waitingPlan({ planned, open }: Talk): Talk["planned"] {
  return open.session.turns.at(-1)?.run === planned?.run ? planned : null;
}

/** Carries the plan out in a turn of its own; one that was only shown is asked about where it does more now. */
export async function carryOut(talk: Talk, { task, typed, plan, approved, isYes }: Planned): Promise<void> {
  if (approved === null) {
    await runTurn(talk, task, { flow: singleShot, shown: plan, isYes });
    return;
  }
  const { mode, ...rest } = approved;
  const work = { plan, ...rest };
  await runTurn(talk, task, { flow: resumePlan(work), mode, typed, approved: work });
}
