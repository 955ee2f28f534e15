/** A session at the terminal: its parts, one turn of it, and Ctrl+C that ends the turn and not the session. */
import { PaiError } from "../../core/error.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { historyOf } from "../../core/session.ts";
import type { Flow, Task } from "../../flows/run.ts";
import { runTask } from "../../flows/run-task.ts";
import type { InputHistory } from "../../store/input-history.ts";
import type { OpenSession, Sessions } from "../../store/sessions.ts";
import type { Settings } from "../../store/settings.ts";
import type { Context } from "../command.ts";
import { type Composed, composeOptions, limitTime } from "../compose/compose.ts";
import type { ComposedModel } from "../compose/compose-model.ts";
import { flowFor } from "../compose/flow.ts";
import type { View } from "../compose/view.ts";
import { findMentions } from "../mentions.ts";
import { stopEcho } from "./echo.ts";

/** Two interrupts within this time leave the session. */
const twiceMs = 2000;

/** A session at the terminal and what its slash commands may change of it. */
export interface Talk {
  readonly context: Context;
  readonly view: View;
  readonly composed: Composed;
  /** null: nothing is kept (--ephemeral). */
  readonly sessions: Sessions | null;
  open: OpenSession;
  readonly input: InputHistory;
  mode: Settings["mode"];
  /** Chosen by /model; undefined: the one of the settings. */
  model: ComposedModel | undefined;
  interruptedAt: number;
  /** What the user did meanwhile, told with the next message: commands of their own, changes taken back. null: nothing. */
  offered: string | null;
  /** What `/plan` came to last; null: nothing. */
  planned: { readonly task: string; readonly run: string; readonly plan: Plan } | null;
}

/** Keeps what the model is told with the next message, behind what waits already. */
export function offer(talk: Talk, told: string): void {
  talk.offered = talk.offered === null ? told : `${talk.offered}\n\n${told}`;
}

/** True when this is the second interrupt in a row. */
export function countInterrupt(talk: Talk): boolean {
  const now = talk.context.now().getTime();
  const twice = now - talk.interruptedAt < twiceMs;
  talk.interruptedAt = now;
  return twice;
}

/** Runs `work` so that Ctrl+C ends it and not the session; twice leaves. */
export async function whileInterruptible<T>(talk: Talk, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { context, composed } = talk;
  const controller = new AbortController();
  context.onInterrupt(() => {
    if (countInterrupt(talk)) process.exit(130);
    controller.abort(new PaiError("interrupted", "interrupted"));
  });
  const both = AbortSignal.any([context.signal, controller.signal]);
  const limited = limitTime(both, composed.base.settings.limits.timeout);
  const echoAgain = stopEcho();
  try {
    return await work(limited.signal);
  } finally {
    echoAgain();
    limited.end();
    context.onInterrupt(null);
  }
}

/** A message with all that goes along with it. Throws path_refused for a denied file behind `@`. */
export async function taskOf({ composed, open, offered }: Talk, text: string, typed: string): Promise<Task> {
  const { session } = open;
  return {
    text,
    history: historyOf(session),
    context: offered,
    files: await findMentions(composed.opened.workspace, typed),
    conversation: session.conversation,
  };
}

export interface TurnOptions {
  /** What of the text the person wrote: only that may name files by `@`; without it: all. */
  readonly typed?: string;
  /** Plans and saved plans are single-shot's, whatever the mode; without it: the flow of the mode. */
  readonly flow?: Flow;
  readonly command?: "run" | "apply";
  readonly planOnly?: boolean;
}

/** One task of the session, shown and kept. */
export async function runTurn(talk: Talk, text: string, turn: TurnOptions): Promise<Outcome> {
  const { context, view, composed, open, model } = talk;
  const { typed = text, flow, command = "run", planOnly = false } = turn;
  const mode = flow === undefined ? talk.mode : "single-shot";
  return whileInterruptible(talk, async (signal) => {
    const sink: View["sink"] = (event) => {
      open.sink(event);
      view.sink(event);
    };
    const task = await taskOf(talk, text, typed);
    talk.offered = null;
    const base = composeOptions(context, composed.base.settings, command, view.interactive);
    const options = { ...base, keep: base.keep || mode === "tool-loop", mode, planOnly };
    const ports = composed.portsFor({ task, options, sink, signal, decide: view.decide, model });
    context.err("\n");
    const outcome = await runTask(flow ?? (await flowFor(mode)), task, options, ports);
    view.finish(outcome);
    return outcome;
  });
}
