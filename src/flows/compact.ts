/** Compaction of a tool-loop conversation: a summary, and the last turn whole with its calls and results. */
import { lastTurn, renderConversation, withTasks } from "../core/conversation.ts";
import { fence } from "../core/data-fence.ts";
import { PaiError, toPaiError } from "../core/error.ts";
import { type Message, sizeOf } from "../core/model.ts";
import { ask } from "./ask.ts";
import compactPrompt from "./prompts/compact.md" with { type: "text" };
import type { Run } from "./run.ts";

/** Share of the window that may be filled before the conversation is compacted. */
const share = 0.8;
/** Share of the window that the last turn may keep for itself. */
const keptShare = 0.3;

/** Characters that stay of an answer too long to be kept whole. */
const mostAnswer = 2000;

const charactersOf = (messages: readonly Message[]) => messages.reduce((sum, message) => sum + sizeOf(message), 0);

function needsCompaction(run: Run): boolean {
  const { messages } = run.record.conversation;
  const used = run.ledger.estimate(charactersOf(messages)) + run.ports.model.maxOutputTokens / 8;
  return messages.length > 2 && used > run.ports.model.window * share;
}

const withoutAnalysis = (text: string) => text.replace(/<analysis>[\s\S]*?<\/analysis>/g, "").trim();

/** A summary of what is told, at most half a window of it. Throws reply_empty when the model gives none. */
export async function summarizeText(run: Run, told: string): Promise<string> {
  const most = run.ports.model.window * 2;
  const text = told.length > most ? `${told.slice(0, most / 2)}\n[…]\n${told.slice(-most / 2)}` : told;
  // A small model answers the request it reads last, unless that is the one for the summary.
  const request = `${fence("conversation", {}, text)}\n\nSummarize this conversation; do not answer it.`;
  const messages: Message[] = [{ role: "user", text: request }];
  const reply = await ask(run, { purpose: "compact", system: compactPrompt, messages, format: null });
  const summary = withoutAnalysis(reply.text);
  if (summary === "") throw new PaiError("reply_empty", "the summary was empty; the conversation is as it was");
  return summary;
}

/** What was told, and the last answer with it where there is one: a request that was answered must not seem to wait. */
function closeAnswered(told: Message, last: Message | undefined): readonly Message[] {
  if (last?.role !== "assistant" || last.calls.length > 0) return [told];
  return [told, { role: "assistant", text: last.text.slice(0, mostAnswer), calls: [], native: null }];
}

/** Without the provider's own form: thoughts in it are bound to what was said before them, and refused behind anything else. */
const withoutNative = (message: Message): Message =>
  message.role === "assistant" ? { ...message, native: null } : message;

/** Replaces the conversation by its summary and the last turn, whole if it fits, with its calls and results. */
export async function compactConversation(run: Run): Promise<void> {
  const { messages, tasks } = run.record.conversation;
  const summary = await summarizeText(run, renderConversation(messages));
  const turn = lastTurn(messages);
  const fits = run.ledger.estimate(charactersOf(turn)) < run.ports.model.window * keptShare;
  const [request, ...work] = turn;
  const asked = request?.role === "user" ? request.text : "";
  const told = withTasks(`Summary of the conversation so far:\n${summary}`, tasks);
  const first: Message = { role: "user", text: `${told}\n\nThe last request:\n${asked}` };
  const next = fits ? [first, ...work.map(withoutNative)] : closeAnswered(first, messages.at(-1));
  run.record.conversation = { messages: next, tasks };
  run.emit({ type: "conversation.replaced", messages: next });
}

/** Compacts when the window fills up. A summary that cannot be had leaves the conversation as it was. */
export async function compactIfNeeded(run: Run): Promise<void> {
  if (!needsCompaction(run)) return;
  run.emit({ type: "notice", level: "info", code: "compacting", text: "the conversation is long: summarizing it" });
  try {
    await compactConversation(run);
  } catch (thrown) {
    const { code, message } = toPaiError(thrown);
    if (!code.startsWith("reply_")) throw thrown;
    run.emit({ type: "notice", level: "warning", code: "not_compacted", text: message });
  }
}
