/** The interactive session: a prompt, a task, its result, and on with the next. */
import { join } from "node:path";
import { PaiError, toPaiError } from "../core/error.ts";
import { pendingOf, type Session } from "../core/session.ts";
import { openInputHistory } from "../store/input-history.ts";
import { openSessions, openUnkept } from "../store/sessions.ts";
import { counted } from "../ui/amount.ts";
import { isContinue } from "../ui/answer.ts";
import { columnsOfErrors } from "./columns.ts";
import type { Context } from "./command.ts";
import { completeMessage } from "./complete.ts";
import { composeBase, composeTask } from "./compose.ts";
import { renderError } from "./failure.ts";
import { offerLocal } from "./offer-local.ts";
import { runOwn } from "./own-command.ts";
import { carryOut, waitingPlan } from "./plan-turn.ts";
import { doSlash, isSlash } from "./slash.ts";
import { countInterrupt, runTurn, type Talk } from "./talk.ts";
import { version } from "./version.ts";
import { openView } from "./view.ts";

/** The pending steps as a task: all of them, or the one whose number was typed. */
function renderPending(pending: readonly string[], line: string): string | null {
  if (pending.length === 0) return null;
  if (isContinue(line))
    return `The user confirmed these next steps. Do them in order:\n${pending.map((step, at) => `${at + 1}. ${step}`).join("\n")}`;
  return /^\d+$/.test(line) ? (pending[Number(line) - 1] ?? null) : null;
}

/** What fails here is told, and the session goes on. */
async function sayFailure({ context }: Talk, work: Promise<unknown>): Promise<void> {
  await work.catch((thrown) => context.err(renderError(toPaiError(thrown), columnsOfErrors(context))));
}

/** What is meant for a shell or is a command without its slash is never a task that costs money. */
function requireTask(line: string): void {
  const word = line.toLowerCase();
  if (isSlash(word)) throw new PaiError("usage", `${word} is no task`, { hint: `did you mean /${word}?` });
  const name = /^pai\s+([a-z]+)$/.exec(word)?.[1];
  if (name === undefined) return;
  const here = isSlash(name) ? `; here: /${name}` : "";
  throw new PaiError("usage", `${word} is for a shell${here}`, { hint: "see /help" });
}

async function runTask(talk: Talk, line: string, pending: string | null): Promise<void> {
  if (pending === null) requireTask(line);
  await runTurn(talk, pending ?? line, { typed: pending === null ? line : "" });
}

async function doLine(talk: Talk, line: string): Promise<"leave" | "stay"> {
  if (/^(exit|quit|\/quit|\/exit)$/i.test(line)) return "leave";
  if (/^\/[a-z]+\b/i.test(line)) {
    await sayFailure(talk, doSlash(talk, line));
    return "stay";
  }
  if (line.startsWith("!")) {
    await sayFailure(talk, runOwn(talk, line.slice(1).trim()));
    return "stay";
  }
  const planned = isContinue(line) ? waitingPlan(talk) : null;
  if (planned !== null) {
    await sayFailure(talk, carryOut(talk, planned));
    return "stay";
  }
  const pending = renderPending(pendingOf(talk.open.session), line);
  if (pending === null && isContinue(line)) {
    talk.view.notify({ level: "info", code: "nothing_pending", text: "nothing to continue" });
    return "stay";
  }
  await sayFailure(talk, runTask(talk, line, pending));
  return "stay";
}

/** A slow terminal takes its time before the next message; Ctrl+C leaves out what it has not shown yet. */
async function showAll({ shown, onInterrupt }: Context): Promise<void> {
  onInterrupt(() => {});
  await shown();
  onInterrupt(null);
}

/** One message of the user; null: leave. */
async function readMessage(talk: Talk): Promise<string | null> {
  const { context, view } = talk;
  const keep = (text: string) => talk.input.add((talk.model ?? talk.composed).mask(text));
  const prompter = await view.prompter();
  await showAll(context);
  for (;;) {
    try {
      context.err("\n");
      const line = await prompter.readMessage({
        prompt: view.style.paint("change", "pai> "),
        history: talk.input.entries,
        complete: (before) => completeMessage(talk.composed.opened.workspace, before),
        keep(draft) {
          if (!keep(draft)) context.err("what you typed is not kept: copy it from above\n");
        },
      });
      if (line !== null && line.trim() !== "") keep(line);
      talk.interruptedAt = 0;
      return line === null ? null : line.trim();
    } catch (thrown) {
      const error = toPaiError(thrown);
      if (error.code !== "interrupted" || context.signal.aborted) throw thrown;
      if (countInterrupt(talk)) throw error;
      context.err("press Ctrl+C again to leave\n");
    }
  }
}

function requireTerminal(context: Context): void {
  if (context.tty.stdin) return;
  throw new PaiError("usage", "the interactive session needs a terminal", {
    hint: 'pai run "TASK" works without one; see: pai help',
  });
}

/** What a saved session holds, shown when it goes on; stored text is text and approves nothing. */
function renderResumed({ id, turns, conversation }: Session, damaged: number): string {
  const last = turns.at(-1);
  const tasks = conversation.tasks.length === 0 ? "" : `, ${counted(conversation.tasks.length, "task")}`;
  const lost = damaged === 0 ? "" : `\n${counted(damaged, "damaged line")} passed over`;
  return `session ${id}, ${counted(turns.length, "turn")}${tasks}${last === undefined ? "" : `, last: ${last.request.slice(0, 60)}`}${lost}\n`;
}

/** Everything a session at the terminal needs; a new conversation, or the one to go on with. */
async function openTalk(context: Context, resume: { readonly id: string | null } | null): Promise<Talk> {
  const view = await openView(context, context.signal, "session");
  const readLine = async (question: string) => (await view.prompter()).readLine(question);
  const given = composeBase(context);
  const base = view.interactive ? await offerLocal(context, given, readLine) : given;
  const warn = (code: string) => (text: string) => view.notify({ level: "warning", code, text });
  for (const warning of base.warnings) warn("settings")(warning);
  const composed = await composeTask(context, base, view.notify, view.confirm);
  const { workspace, stateFolder, notices } = composed.opened;
  for (const notice of notices) warn("workspace")(notice);
  const sessions = stateFolder === null ? null : openSessions(join(stateFolder, "sessions"), workspace.root);
  const loaded = resume === null ? null : (sessions?.load(resume.id) ?? null);
  const open = sessions?.open(loaded?.session ?? null, context.now, warn("session")) ?? openUnkept(context.now);
  const input = openInputHistory(stateFolder === null ? null : join(stateFolder, "input.jsonl"));
  context.err(`pai ${version}  ${base.settings.model}  ${workspace.root}\nType a task; /help shows more\n`);
  if (loaded !== null) context.err(renderResumed(loaded.session, loaded.damaged));
  const { mode } = base.settings;
  const nothing = { model: undefined, interruptedAt: 0, offered: null, planned: null };
  return { context, view, composed, sessions, open, input, mode, ...nothing };
}

/** Opens the session of a place and talks until the user leaves. */
export async function talkAt(context: Context, resume: { readonly id: string | null } | null): Promise<number> {
  requireTerminal(context);
  const talk = await openTalk(context, resume);
  try {
    for (let line = await readMessage(talk); line !== null; line = await readMessage(talk)) {
      if (line !== "" && (await doLine(talk, line)) === "leave") break;
      if (context.signal.aborted) throw toPaiError(context.signal.reason);
    }
  } finally {
    talk.open.close();
    talk.composed.close();
  }
  return 0;
}

export async function sessionCommand(context: Context): Promise<number> {
  return talkAt(context, context.flags["continue"] === true ? { id: null } : null);
}
