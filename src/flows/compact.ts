/** Compaction of a tool-loop conversation: a summary, and the last turn whole with its calls and results. */
import { lastTurn, renderConversation, sizeOf } from "../core/conversation.ts";
import type { Message } from "../core/model.ts";
import { ask } from "./ask.ts";
import compactPrompt from "./prompts/compact.md" with { type: "text" };
import type { Run } from "./run.ts";

/** Share of the window that may be filled before the conversation is compacted. */
const share = 0.8;
/** Share of the window that the last turn may keep for itself. */
const keptShare = 0.3;

const charactersOf = (messages: readonly Message[]) => messages.reduce((sum, message) => sum + sizeOf(message), 0);

export function needsCompaction(run: Run): boolean {
  const { messages } = run.record.conversation;
  const used = run.ledger.estimate(charactersOf(messages)) + run.ports.model.maxOutputTokens / 8;
  return messages.length > 2 && used > run.ports.model.window * share;
}

const withoutAnalysis = (text: string) => text.replace(/<analysis>[\s\S]*?<\/analysis>/g, "").trim();

/** Replaces the conversation by its summary and the last turn. An empty summary or a failed call leaves it as it was. */
export async function compact(run: Run): Promise<boolean> {
  const { messages, tasks } = run.record.conversation;
  if (messages.length < 3) return false;
  const window = run.ports.model.window;
  const most = Math.floor((window / 2) * 4);
  const told = renderConversation(messages);
  const text = told.length > most ? `${told.slice(0, most / 2)}\n[…]\n${told.slice(-most / 2)}` : told;
  run.emit({ type: "notice", level: "info", code: "compacting", text: "the conversation is long: summarizing it" });
  const reply = await ask(run, {
    purpose: "compact",
    system: compactPrompt,
    messages: [{ role: "user", text }],
    format: null,
  });
  const summary = withoutAnalysis(reply.text);
  if (summary === "") return false;
  const turn = lastTurn(messages);
  const fits = run.ledger.estimate(charactersOf(turn)) < window * keptShare;
  const [request, ...work] = turn;
  const asked = request?.role === "user" ? request.text : "";
  const first: Message = {
    role: "user",
    text: `Summary of the conversation so far:\n${summary}\n\nThe last request:\n${asked}`,
  };
  const next = { messages: fits ? [first, ...work] : [first], tasks };
  run.record.conversation = next;
  run.emit({ type: "conversation.replaced", messages: next.messages });
  return true;
}
