/** The only door to the model: checks the budget, streams the reply, counts what it cost. */
import { sizeOf } from "../core/conversation.ts";
import { PaiError } from "../core/error.ts";
import {
  type Call,
  type Message,
  type ModelEvent,
  type ModelRequest,
  type Native,
  noUsage,
  type StopReason,
  type Usage,
} from "../core/model.ts";
import type { Veil } from "../core/veil.ts";
import type { Run } from "./run.ts";

export interface Reply {
  readonly text: string;
  readonly calls: readonly Call[];
  readonly stop: StopReason;
  readonly native: Native | null;
}

export type Question = Pick<ModelRequest, "purpose" | "system" | "messages" | "format"> &
  Partial<Pick<ModelRequest, "tools">>;

function charactersOf({ system, messages, format, tools = [] }: Question): number {
  const schemas = [...(format === null ? [] : [format.schema]), ...tools];
  const defined = schemas.reduce<number>((sum, schema) => sum + JSON.stringify(schema).length, 0);
  return messages.reduce((sum, message) => sum + sizeOf(message), system.length + defined);
}

/** A reply that arrived and is worth nothing, or broke off: asked for again once, when the promise has a spare call. */
const worthAsking: readonly string[] = ["reply_empty", "reply_invalid", "reply_cut"];

/**
 * Asks the model once. `onText` sees the text as it arrives, with the number of the call.
 * Throws budget_* before sending, PaiError of the bridge while sending.
 */
export async function ask(
  run: Run,
  question: Question,
  onText: (text: string, n: number) => void = () => {},
): Promise<Reply> {
  try {
    return await askOnce(run, question, onText);
  } catch (thrown) {
    if (!(thrown instanceof PaiError && worthAsking.includes(thrown.code)) || !run.ledger.spare) throw thrown;
    run.emit({ type: "notice", level: "warning", code: thrown.code, text: `${thrown.message}: asking once more` });
    return askOnce(run, question, onText);
  }
}

type Done = Extract<ModelEvent, { type: "done" }>;

/** What has arrived of one reply. */
interface Arriving {
  /** Number of the call; 0 until its first event counted it. */
  n: number;
  text: string;
  readonly calls: Call[];
  done: Done | null;
}

interface Asking {
  readonly request: ModelRequest;
  readonly refit: () => number;
  readonly onText: (text: string, n: number) => void;
}

/** Characters: tokens are longer only where one character is repeated. A server that heeds no limit is left at this one, */
const mostPerToken = 32;
/** but where no cap is set only at this length: servers that say nothing of their models may write more than we think. */
const mostUncapped = 4 * 1024 * 1024;

async function receive(run: Run, { request, refit, onText }: Asking, got: Arriving) {
  const isCapped = Number.isFinite(run.ledger.room(0));
  let left = Math.max(mostPerToken * request.maxOutputTokens, isCapped ? 0 : mostUncapped);
  for await (const event of run.ports.model.stream(request, run.signal, refit)) {
    if (got.n === 0) got.n = run.ledger.count();
    if (event.type === "text") {
      got.text += event.text;
      onText(event.text, got.n);
    } else if (event.type === "thought")
      run.emit({ type: "model.delta", n: got.n, channel: "thought", text: event.text });
    else if (event.type === "call") got.calls.push(event.call);
    else got.done = event;
    if (event.type === "text" || event.type === "thought") left -= event.text.length;
    if (left < 0) throw new PaiError("reply_cut", "the reply went on far beyond the length that was asked for");
  }
}

function hideMessage(veil: Veil, message: Message): Message {
  if (message.role === "tools") {
    return { ...message, results: message.results.map((result) => ({ ...result, text: veil.hide(result.text) })) };
  }
  const text = veil.hide(message.text);
  if (message.role === "user") return { ...message, text };
  return { ...message, text, calls: message.calls.map((call) => ({ ...call, input: veil.hideJson(call.input) })) };
}

/** The question as it leaves: secrets by their names. Says once more how many, when there are new ones. */
function hide({ veil, emit, record }: Run, question: Question): Question {
  const system = veil.hide(question.system);
  const messages = question.messages.map((message) => hideMessage(veil, message));
  if (veil.count > record.masked) {
    record.masked = veil.count;
    const values = veil.count === 1 ? "1 value that looks" : `${veil.count} values that look`;
    emit({
      type: "notice",
      level: "info",
      code: "masked",
      text: `${values} like a secret: sent as a name, kept in your files`,
    });
  }
  return { ...question, system, messages };
}

/** The reply with the names as the secrets they stand for. */
function reveal({ veil }: Run, reply: Reply): Reply {
  if (veil.count === 0) return reply;
  const calls = reply.calls.map((call) => ({ ...call, input: veil.revealJson(call.input) }));
  return { ...reply, text: veil.reveal(reply.text), calls };
}

/** Tokens that must be left for a reply to say anything. */
const leastReply = 256;
/** An estimate may be a fifth too low. */
const margin = 1.2;

/** Output tokens that a reply of the model in use may have. Throws for a request that it may not be asked, or cannot hold. */
function fit({ ledger, ports: { model } }: Run, estimate: number): number {
  ledger.admit(estimate, leastReply);
  if (estimate + leastReply > model.window) {
    const message = `the request needs about ${estimate} tokens, ${model.id} holds ${model.window}`;
    throw new PaiError("request_rejected", message, { hint: "name fewer or smaller files in the task" });
  }
  const likely = Math.ceil(estimate * margin);
  return Math.max(leastReply, Math.min(model.maxOutputTokens, model.window - likely, ledger.room(likely)));
}

async function askOnce(run: Run, question: Question, onText: (text: string, n: number) => void): Promise<Reply> {
  const { ledger, emit, ports } = run;
  const { model } = ports;
  const estimate = ledger.estimate(charactersOf(question));
  const refit = () => fit(run, estimate);
  const maxOutputTokens = refit();
  const request: ModelRequest = {
    tools: [],
    ...hide(run, question),
    toolChoice: question.tools?.length ? "auto" : "none",
    maxOutputTokens,
    temperature: run.options.temperature,
  };
  const started = ports.now().getTime();
  emit({ type: "model.started", n: ledger.made + 1, purpose: question.purpose, model: model.id, estimate });
  const got: Arriving = { n: 0, text: "", calls: [], done: null };
  try {
    await receive(run, { request, refit, onText }, got);
  } catch (thrown) {
    if (got.n === 0 && thrown instanceof PaiError && thrown.code.startsWith("reply_")) got.n = ledger.count();
    throw thrown;
  } finally {
    finish(run, got, estimate, ports.now().getTime() - started);
  }
  return reveal(run, readReply(got));
}

/** Throws for a reply that is none. */
function readReply({ text, calls, done }: Arriving): Reply {
  if (done === null) throw new PaiError("reply_cut", "the reply ended before it was complete");
  if (done.stop === "refused") throw new PaiError("reply_blocked", "the model refused to answer");
  if (text.trim() === "" && calls.length === 0) throw new PaiError("reply_empty", "the reply was empty");
  return { text, calls, stop: done.stop, native: done.native };
}

/**
 * What the provider counted; what it left out, or could not say as the reply broke off, as the run estimates it:
 * no cap and no promise takes it for nothing.
 */
function usageOf({ ledger }: Run, { n, text, calls, done }: Arriving, estimate: number): Usage {
  if (n === 0) return noUsage;
  const counted = done?.usage ?? noUsage;
  const written = text.length + calls.reduce((sum, call) => sum + JSON.stringify(call.input).length, 0);
  return { ...counted, input: counted.input || estimate, output: counted.output || ledger.estimate(written) };
}

function finish(run: Run, got: Arriving, estimate: number, ms: number): void {
  const { n, done } = got;
  const usage = usageOf(run, got, estimate);
  if (done !== null) run.ledger.spend(usage, done.served, done.key, estimate);
  else if (n > 0) run.ledger.lose(usage);
  const { made, usage: total, cost } = run.ledger;
  run.emit({
    type: "model.finished",
    n: n || made + 1,
    stop: done?.stop ?? "failed",
    usage,
    served: done?.served ?? "",
    key: done?.key ?? null,
    ms,
  });
  run.emit({ type: "budget.updated", calls: made, tokens: total.input + total.output, cost });
}
