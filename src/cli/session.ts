/** The interactive session: a prompt, a task, its result, and on with the next. */
import { PaiError, toPaiError } from "../core/error.ts";
import type { Outcome } from "../core/outcome.ts";
import { runTask, type Task } from "../flows/run.ts";
import { isContinue } from "../ui/answer.ts";
import type { Context } from "./command.ts";
import { type Composed, composeBase, composeOptions, composeTask, limitTime } from "./compose.ts";
import { renderError } from "./failure.ts";
import { flowFor } from "./flow.ts";
import { undoCommand } from "./history.ts";
import { version } from "./version.ts";
import { openView, type View } from "./view.ts";

/** Two interrupts within this time leave the session. */
const twiceMs = 2000;
const kept = 20;

const slashHelp = `/help     this list
/undo     take back the last run
/quit     leave (also: exit, quit, Ctrl+D)
After a task, y or lanjut does its next steps, a number does that one
`;

interface Session {
  readonly context: Context;
  readonly view: View;
  readonly composed: Composed;
  history: readonly { readonly request: string; readonly answer: string }[];
  /** Next steps of the last task. */
  pending: readonly string[];
  interruptedAt: number;
}

/** The pending steps as a task: all of them, or the one whose number was typed. */
function renderPending(pending: readonly string[], line: string): string | null {
  if (isContinue(line))
    return `The user confirmed these next steps. Do them in order:\n${pending.map((step, at) => `${at + 1}. ${step}`).join("\n")}`;
  return /^\d+$/.test(line) ? (pending[Number(line) - 1] ?? null) : null;
}

/** True when this is the second interrupt in a row. */
function countInterrupt(session: Session): boolean {
  const now = session.context.now().getTime();
  const twice = now - session.interruptedAt < twiceMs;
  session.interruptedAt = now;
  return twice;
}

async function runOne(session: Session, text: string): Promise<Outcome> {
  const { context, view, composed } = session;
  const { settings } = composed.base;
  const controller = new AbortController();
  context.onInterrupt(() => {
    if (countInterrupt(session)) process.exit(130);
    controller.abort(new PaiError("interrupted", "interrupted"));
  });
  const limited = limitTime(AbortSignal.any([context.signal, controller.signal]), settings.limits.timeout);
  try {
    const ports = composed.portsFor({ sink: view.sink, signal: limited.signal, decide: view.decide });
    const task: Task = { text, history: session.history, context: null };
    const flow = await flowFor(settings.mode);
    const outcome = await runTask(flow, task, composeOptions(context, settings, "run", view.interactive), ports);
    view.finish(outcome);
    return outcome;
  } finally {
    limited.end();
    context.onInterrupt(null);
  }
}

async function doLine(session: Session, line: string): Promise<"leave" | "stay"> {
  const { context, view } = session;
  if (/^(exit|quit|\/quit|\/exit)$/i.test(line)) return "leave";
  if (line === "/help") context.err(slashHelp);
  else if (line === "/undo")
    await undoCommand({ ...context, words: [] }).catch((thrown) => context.err(renderError(toPaiError(thrown))));
  else if (/^\/[a-z]+\b/i.test(line)) context.err(`unknown command ${line.split(/\s/, 1)[0]}; see /help\n`);
  else {
    const pending = renderPending(session.pending, line);
    if (pending === null && isContinue(line)) {
      view.notify({ level: "info", code: "nothing_pending", text: "nothing to continue" });
      return "stay";
    }
    const outcome = await runOne(session, pending ?? line);
    session.pending = outcome.ok ? outcome.next : [];
    const answer = outcome.text === "" ? outcome.status : outcome.text;
    session.history = [...session.history, { request: line, answer }].slice(-kept);
  }
  return "stay";
}

/** One message of the user; null: leave. */
async function readMessage(session: Session): Promise<string | null> {
  const { context, view } = session;
  const prompter = await view.prompter();
  for (;;) {
    try {
      const line = await prompter.readLine("\npai> ");
      return line === null ? null : line.trim();
    } catch (thrown) {
      const error = toPaiError(thrown);
      if (error.code !== "interrupted" || context.signal.aborted) throw thrown;
      if (countInterrupt(session)) throw error;
      context.err("press Ctrl+C again to leave\n");
    }
  }
}

export async function sessionCommand(context: Context): Promise<number> {
  if (context.words.length > 0)
    throw new PaiError("usage", "pai auto takes no task", { hint: 'pai "TASK" does one task' });
  if (!context.tty.stdin || context.flags["json"] === true || context.flags["jsonl"] === true) {
    throw new PaiError("usage", "the interactive session needs a terminal", {
      hint: 'pai run "TASK" works without one; see: pai help',
    });
  }
  const base = composeBase(context);
  const view = await openView(context, context.signal, false);
  for (const warning of base.warnings) view.notify({ level: "warning", code: "settings", text: warning });
  const ask = async (question: string) => (await view.decide({ kind: "command", text: question })).accept;
  const composed = await composeTask(context, base, view.notify, view.interactive ? ask : null);
  for (const notice of composed.opened.notices) view.notify({ level: "warning", code: "workspace", text: notice });
  const { workspace } = composed.opened;
  context.err(`pai ${version}  ${base.settings.model}  ${workspace.root}\nType a task; /help shows more\n`);
  const session: Session = { context, view, composed, history: [], pending: [], interruptedAt: 0 };
  try {
    for (;;) {
      const line = await readMessage(session);
      if (line === null) break;
      if (line !== "" && (await doLine(session, line)) === "leave") break;
      if (context.signal.aborted) throw toPaiError(context.signal.reason);
    }
  } finally {
    composed.close();
  }
  return 0;
}
