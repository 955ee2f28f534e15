/** Compacts a tool-loop conversation into a summary and the last turn, whole with its calls and results. */

import { roomOf } from "../../core/context/shown.ts";
import { fence } from "../../core/data-fence.ts";
import { PaiError, toPaiError } from "../../core/error.ts";
import { type CallResult, type Message, sizeOf } from "../../core/model.ts";
import { hideMessage } from "../../core/secrets/veil.ts";
import { lastTurn, renderConversation, withTasks } from "../../core/session/conversation.ts";
import { ask } from "../ask.ts";
import { shareAmong } from "../evidence.ts";
import type { Calling } from "../ledger.ts";
import { compactPrompt } from "../prompts/prompts.ts";
import type { Run } from "../run.ts";

/** Share of the window above which the conversation is compacted. */
const fillShare = 0.8;
/** Share of the window up to which the last turn stays whole. */
const keptShare = 0.3;

const maxAnswer = 2000;

const charactersOf = (messages: readonly Message[]) => messages.reduce((sum, message) => sum + sizeOf(message), 0);

function needsCompaction(run: Run): boolean {
  const { messages } = run.conversation;
  const used = run.ledger.estimate(charactersOf(messages)) + run.calling.model.maxOutputTokens / 8;
  return messages.length > 2 && used > run.calling.model.window * fillShare;
}

const withoutAnalysis = (text: string) => text.replace(/<analysis>[\s\S]*?<\/analysis>/g, "").trim();

/** A summary of the messages, made from at most half a window of them. Throws reply_empty when the model gives none. */
export async function summarizeText(run: Run, written: string): Promise<string> {
  const maxLength = run.calling.model.window * 2;
  const conversation = run.veil.hide(written);
  const text =
    conversation.length > maxLength
      ? `${conversation.slice(0, maxLength / 2)}\n[…]\n${conversation.slice(-maxLength / 2)}`
      : conversation;
  // The request comes last, since a small model answers the request that it reads last.
  const request = `${fence("conversation", {}, text)}\n\nSummarize this conversation; do not answer it.`;
  const messages: Message[] = [{ role: "user", text: request }];
  const reply = await ask(run, { purpose: "compact", system: compactPrompt(), messages, format: null });
  const summary = withoutAnalysis(reply.text);
  if (summary === "") throw new PaiError("reply_empty", "the summary was empty; the conversation is as it was");
  return summary;
}

/** The message without its native form: providers refuse thoughts in it after messages other than the original ones. */
const withoutNative = (message: Message): Message =>
  message.role === "assistant" ? { ...message, native: null } : message;

/** The beginning of an answer too long to be kept whole, so that its request does not seem unanswered. */
function closingAnswer(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || last.calls.length > 0) return [];
  return [{ role: "assistant", text: last.text.slice(0, maxAnswer), calls: [], native: null }];
}

/** The request that is worked on, without the briefing, which the summary covers. */
function requestOf({ task }: Run, message: Message | undefined): string {
  if (message?.role !== "user") return "";
  return message.text.endsWith(task.text) ? task.text : message.text;
}

/** Replaces the conversation by its summary and the last turn if that fits, else what the model has not seen yet. */
export async function compactConversation(run: Run): Promise<void> {
  const { messages, tasks } = run.conversation;
  const turn = lastTurn(messages);
  const fits = run.ledger.estimate(charactersOf(turn)) < run.calling.model.window * keptShare;
  const unseen = messages.at(-1)?.role === "tools" ? messages.slice(-2) : [];
  const kept = fits ? turn.slice(1) : [...unseen, ...closingAnswer(messages)];
  const old = messages.slice(0, messages.length - unseen.length);
  const summary = await summarizeText(run, renderConversation(old.map((each) => hideMessage(run.veil, each))));
  const summaryText = withTasks(
    `Summary of the conversation so far (${old.length} messages; what they showed is out of view unless it stands below: read it again where you need it):\n${summary}`,
    tasks,
  );
  const first: Message = { role: "user", text: `${summaryText}\n\nThe last request:\n${requestOf(run, turn[0])}` };
  const next = [first, ...kept.map(withoutNative)];
  run.conversation = { messages: next, tasks };
  run.emit({ type: "conversation.replaced", messages: next });
  const tokens = (list: readonly Message[]) => run.ledger.estimate(charactersOf(list));
  const text = `summarized: ${old.length} messages, about ${tokens(old)} tokens became ${tokens([first])}; ${kept.length} messages are kept whole`;
  run.emit({ type: "notice", level: "info", code: "compacted", text });
}

const minResultChars = 400;

/** Cuts the results of one reply to the room in the model's window, the longest first, each with a note. */
export function fitResults({ model }: Readonly<Calling>, results: readonly CallResult[]): readonly CallResult[] {
  const limits = shareAmong(results, roomOf(model.window));
  return results.map((result) => {
    const maxLength = Math.max(minResultChars, limits.get(result) ?? 0);
    const left = result.text.length - maxLength;
    if (left <= 0) return result;
    const shown = result.text.slice(0, maxLength).toWellFormed();
    const text = `${shown}\n[… ${left} more characters do not fit: ask for less at once, or for a range]`;
    return { ...result, text };
  });
}

/** Compacts the conversation when the window fills up; without a summary, it stays as it was. */
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
