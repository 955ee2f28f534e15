/** The only door to the model: checks the budget, streams the reply, counts what it cost. */

import { approvalWording } from "../core/approval-wording.ts";
import { type ErrorCode, PaiError } from "../core/error.ts";
import {
  type Call,
  type Job,
  type Message,
  type ModelEvent,
  type ModelRequest,
  type Native,
  noUsage,
  partOf,
  type StopReason,
  sizeOf,
  type Usage,
} from "../core/model.ts";
import { hideMessage } from "../core/secrets/veil.ts";
import type { PlannedCall } from "../core/spending/allowance.ts";
import { breathe } from "../core/steps.ts";
import { type Ledger, minTokens } from "./ledger.ts";
import type { Run } from "./run.ts";

export interface Reply {
  readonly text: string;
  readonly calls: readonly Call[];
  readonly stop: StopReason;
  readonly native: Native | null;
}

export const replied = ({ text, native }: Pick<Reply, "text" | "native">): Message => ({
  role: "assistant",
  text,
  calls: [],
  native,
});

export const askedAfter = (messages: readonly Message[], text: string, request: string): readonly Message[] => [
  ...messages,
  replied({ text, native: null }),
  { role: "user", text: request },
];

/** Whether a call failed because its reply was empty, invalid or cut: another call may bring a better one. */
export const isBadReply = (thrown: unknown): thrown is PaiError =>
  thrown instanceof PaiError && ["reply_empty", "reply_invalid", "reply_cut"].includes(thrown.code);

export const isTooLong = (thrown: unknown): thrown is PaiError =>
  thrown instanceof PaiError && thrown.code === "request_too_long";

type OnText = (text: string, n: number) => void;

const lost: readonly ErrorCode[] = ["network", "provider_down"];

/**
 * Makes one call, and a second one when the reply was bad or lost on its way and the promise has a call to spare.
 * `onText` gets the text as it arrives, with the number of its call: a new number means that the reply begins again.
 * Throws budget_* and request_rejected before sending, and what the model's stream throws.
 */
export async function ask(run: Run, question: ModelQuestion, onText: OnText = () => {}): Promise<Reply> {
  const { made } = run.ledger;
  try {
    return await askOnce(run, question, onText);
  } catch (thrown) {
    const isLost = run.ledger.made > made && thrown instanceof PaiError && lost.includes(thrown.code);
    if (!(isLost || isBadReply(thrown)) || !run.ledger.spare) throw thrown;
    run.emit({ type: "notice", level: "warning", code: thrown.code, text: `${thrown.message}: asking once more` });
    return askOnce(run, question, onText);
  }
}

interface Arriving {
  n: number;
  /** The run was stopped while the provider worked on the request, which it bills all the same. */
  isBrokenOff: boolean;
  text: string;
  readonly calls: Call[];
  done: Extract<ModelEvent, { type: "done" }> | null;
}

interface Size {
  readonly sent: number;
  readonly estimate: number;
  readonly job: Job;
}

interface Sending extends Size {
  /** Output tokens that a reply may have, worked out again when another model takes the call over. */
  readonly refit: () => number;
  readonly onText: OnText;
}

const progressMs = 250;

/** Reports with every piece that arrives how far the reply is, a few times a second; a quick reply is not reported. */
function reportProgress({ emit, ledger, now }: Run) {
  let [thoughts, lines] = [0, 0];
  let last = now().getTime();
  return (kind: "text" | "thought", text: string, n: number) => {
    thoughts = kind === "thought" ? thoughts + text.length : 0;
    if (kind === "text") lines += text.split("\n").length - 1;
    const at = now().getTime();
    if (at - last < progressMs) return;
    last = at;
    emit({ type: "model.progress", n, replied: false, thought: ledger.estimate(thoughts), lines });
  };
}

/** The most characters a token has: a reply with more comes from a server that ignores the limit. */
const maxPerToken = 32;
/** Characters that a reply may always have where the user set no cap: pai may know too low a limit for the model. */
const maxUncapped = 4 * 1024 * 1024;

const isRationed = ({ ledger, calling }: Run): boolean =>
  Number.isFinite(ledger.room(0)) || (calling.allowance ?? null) !== null;

/** Collects the reply in `got`, which keeps what arrived before a failure. Throws reply_cut for an endless reply. */
async function receive(
  run: Run,
  request: ModelRequest,
  { refit, onText }: Sending,
  count: () => number,
  got: Arriving,
) {
  const onPiece = reportProgress(run);
  let left = Math.max(maxPerToken * request.maxOutputTokens, isRationed(run) ? 0 : maxUncapped);
  const show = ({ type, text }: Extract<ModelEvent, { type: "text" | "thought" }>) => {
    if (type === "thought") run.emit({ type: "model.delta", n: got.n, channel: "thought", text });
    else got.text += text;
    if (type === "text" && text !== "") onText(text, got.n);
    onPiece(type, text, got.n);
  };
  for await (const event of run.calling.model.stream(request, run.signal, refit)) {
    // A fast reply never waits for the network: without a pause, signals and time limits would not be noticed.
    await breathe(run.signal);
    if (got.n === 0) got.n = count();
    if (event.type === "call") got.calls.push(event.call);
    else if (event.type === "done") got.done = event;
    else {
      left -= event.text.length;
      show(event);
    }
    if (left < 0) throw new PaiError("reply_cut", "the reply went on far beyond the length that was asked for");
  }
}

/** The question with every secret replaced by a name. A notice tells their number, again whenever it grows. */
function hide({ veil, emit, calling }: Run, question: ModelQuestion): ModelQuestion {
  // A later message may reveal that a value is a secret: earlier messages are searched again.
  let version = -1;
  let [system, messages] = [question.system, question.messages];
  while (version !== veil.version) {
    version = veil.version;
    system = veil.hide(question.system);
    messages = question.messages.map((message) => hideMessage(veil, message));
  }
  if (veil.count > calling.secretsTold) {
    calling.secretsTold = veil.count;
    const values = veil.count === 1 ? "1 value that looks" : `${veil.count} values that look`;
    const text = `${values} like a secret: sent as a name, kept in your files`;
    emit({ type: "notice", level: "info", code: "masked", text });
  }
  return { ...question, system, messages };
}

/** What the provider did not count is estimated. `counted`: for the caps, which believe no count below what text can have. */
function usageOf(ledger: Ledger, { n, isBrokenOff, text, calls, done }: Arriving, { sent, estimate }: Size) {
  const none = isBrokenOff ? { ...noUsage, input: estimate } : noUsage;
  if (n === 0) return { usage: none, counted: none };
  const written = calls.reduce((sum, call) => sum + JSON.stringify(call.input).length, text.length);
  const told = done?.usage ?? noUsage;
  const usage: Usage = { ...told, input: told.input || estimate, output: told.output || ledger.estimate(written) };
  const input = Math.max(usage.input, minTokens(sent));
  return { usage, counted: { ...usage, input, output: Math.max(usage.output, minTokens(written)) } };
}

async function askOnce(run: Run, question: ModelQuestion, onText: OnText): Promise<Reply> {
  const { ledger, calling } = run;
  const { job = "work" } = question;
  const sent = charactersOf(question);
  const estimate = ledger.estimate(sent);
  const size = { sent, estimate, job };
  const maxReply = () => fit(run, estimate, job);
  const call = {
    input: Math.ceil(estimate * margin),
    minReply,
    // A first call mostly plans, and another one works.
    promised: Math.max(1, Math.min(ledger.promised.at_most, Math.max(2, ledger.promised.expected)) - ledger.made),
    maxReply,
    priceOf: (usage: Usage) => ledger.priceOf(usage, job),
    signal: run.signal,
  };
  await permitHuge(run, estimate, call);
  const claim = (await calling.allowance?.reserve(call)) ?? null;
  const got: Arriving = { n: 0, isBrokenOff: false, text: "", calls: [], done: null };
  try {
    return await send(run, question, { ...size, refit: claim?.reply ?? maxReply, onText }, got);
  } finally {
    const { counted } = usageOf(ledger, got, size);
    claim?.settle({
      calls: got.n > 0 || got.isBrokenOff ? 1 : 0,
      tokens: counted.input + counted.output,
      cost: ledger.priceOf(counted, job) ?? got.done?.charged ?? 0,
    });
  }
}

const maxUnasked = 200_000;

/** Asks a person once whether a huge request may go out. Throws declined; budget_tokens where nobody can be asked; what `maxReply` throws. */
async function permitHuge(
  { calling, interactive, decide }: Run,
  estimate: number,
  { input, maxReply, priceOf }: Pick<PlannedCall, "input" | "maxReply" | "priceOf">,
): Promise<void> {
  if (estimate <= maxUnasked || calling.caps.tokens !== null || calling.hugeAllowed) return;
  const hint = `allow it with --max-tokens ${Math.ceil(estimate * 1.5)}, or name less`;
  if (!interactive)
    throw new PaiError("budget_tokens", `the request would have about ${estimate} tokens, and nobody can be asked`, {
      hint,
    });
  maxReply();
  const text = approvalWording.hugeRequest(estimate, priceOf({ ...noUsage, input }));
  calling.hugeAllowed = (await decide({ kind: "changes", text })).accept;
  if (!calling.hugeAllowed) throw new PaiError("declined", "the request was not sent", { hint });
}

/** Tokens of a first request above which its size is told: what a briefing chooses by itself is far smaller. */
const largeRequest = 50_000;

async function send(run: Run, question: ModelQuestion, sending: Sending, got: Arriving): Promise<Reply> {
  const { ledger, emit, calling, now } = run;
  const { estimate, job } = sending;
  const model = partOf(calling.model, job);
  const maxOutputTokens = sending.refit();
  const effort = run.calling.effort?.[job] ?? null;
  if (ledger.sent === 0 && estimate > largeRequest && !calling.hugeAllowed) {
    const text = `this request has about ${estimate.toLocaleString("en")} tokens`;
    emit({ type: "notice", level: "warning", code: "large_request", text });
  }
  const request: ModelRequest = {
    tools: [],
    ...hide(run, question),
    toolChoice: question.tools?.length ? "auto" : "none",
    maxOutputTokens,
    isCapped: isRationed(run) || maxOutputTokens < model.maxOutputTokens,
    temperature: run.calling.temperature,
    ...(effort !== null && { effort }),
  };
  const started = now().getTime();
  const { at_most } = ledger.promised;
  emit({ type: "model.started", n: ledger.made + 1, purpose: question.purpose, model: model.id, estimate, at_most });
  ledger.noteSent();
  const release = ledger.hold();
  const count = () => {
    release();
    return ledger.count();
  };
  try {
    await receive(run, request, sending, count, got);
    sending.onText("", got.n);
  } catch (thrown) {
    got.isBrokenOff = got.n === 0 && run.signal.aborted;
    if (got.n === 0 && thrown instanceof PaiError && thrown.code.startsWith("reply_")) got.n = count();
    throw thrown;
  } finally {
    release();
    finish(run, got, sending, now().getTime() - started);
  }
  return readReply(got, request);
}

/** A reply at its limit may hold half a call: it has no native form. Throws reply_cut, reply_blocked or reply_empty. */
function readReply({ text, calls, done }: Arriving, { tools, maxOutputTokens }: ModelRequest): Reply {
  if (done === null) throw new PaiError("reply_cut", "the reply ended before it was complete");
  const { stop, native, usage } = done;
  if (stop === "refused") throw new PaiError("reply_blocked", "the model refused to answer");
  const isCut = stop === "length";
  if (text.trim() === "" && calls.length === 0 && !(isCut && tools.length > 0)) {
    if (!isCut) throw new PaiError("reply_empty", "the reply was empty");
    const limit = usage.output || maxOutputTokens;
    throw new PaiError("reply_cut", `the reply reached its limit of ${limit} tokens before it said anything`, {
      hint: "ask for less at once, lower --effort, state a longer output under `models` in the configuration, or choose another model",
    });
  }
  return { text, calls, stop, native: isCut ? null : native };
}

function finish(run: Run, got: Arriving, size: Size, ms: number): void {
  const { n, done } = got;
  const { usage, counted } = usageOf(run.ledger, got, size);
  if (n > 0 || got.isBrokenOff) run.ledger.spend(usage, done, size, counted);
  const { made, usage: total, cost } = run.ledger;
  const { stop, served, key } = done ?? { stop: "failed", served: "", key: null };
  run.emit({ type: "model.finished", n: n || made + 1, stop, usage, served, key, ms });
  run.emit({ type: "budget.updated", calls: made, tokens: total.input + total.output, cost });
}

/** A request as a flow makes it; ask.ts adds the length of the reply and hides secrets. */
export type ModelQuestion = Pick<ModelRequest, "purpose" | "system" | "messages" | "format"> &
  Partial<Pick<ModelRequest, "tools" | "job">>;

function charactersOf({ system, messages, format, tools = [] }: ModelQuestion): number {
  let size = system.length;
  for (const message of messages) size += sizeOf(message);
  if (format !== null && format.isOptional !== true) size += JSON.stringify(format.schema).length;
  for (const tool of tools) size += JSON.stringify(tool).length;
  return size;
}

const minReply = 256;
/** Factor on estimates, which may be too low by a fifth. */
const margin = 1.2;

/** Output tokens that a reply may have. Throws budget_*, and request_rejected where the model cannot hold the request. */
function fit({ ledger, calling }: Run, estimate: number, job: Job): number {
  const model = partOf(calling.model, job);
  ledger.admit(estimate, minReply, job);
  if (estimate + minReply > model.window) {
    const message = `the request needs about ${estimate} tokens, ${model.id} may hold ${model.window}`;
    throw new PaiError("request_rejected", message, {
      hint: "name fewer or smaller files in the task, or state a larger window under `models` in the configuration",
    });
  }
  const likely = Math.ceil(estimate * margin);
  return Math.max(minReply, Math.min(model.maxOutputTokens, model.window - likely, ledger.room(likely, job)));
}
