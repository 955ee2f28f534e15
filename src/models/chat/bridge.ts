/** The bridge to Chat Completions, tolerant of the variants that servers send; rows of providers hold all differences. */
import { digest } from "../../core/digest.ts";
import type { Call, CallResult, Fields as ChatItem, Message, ModelRequest, Usage } from "../../core/model.ts";
import type { ChatDialect } from "../../core/providers.ts";
import { createThoughtSplitter, type Split } from "../../core/script/thought.ts";
import type { Stream } from "../stream.ts";
import { closing } from "../wire/exchange.ts";
import { cacheKeyOf, count, fields, listIn, textIn, type WireFields, withoutDialect } from "../wire/fields.ts";
import { type BridgeOptions, openBridge, postTo, turnOf } from "../wire/open-bridge.ts";
import { createReplyTally, type Decoder, refused } from "../wire/replies.ts";
import { createReasoningKeeper, nativeOfChat, reasoningFor } from "./reasoning.ts";
import { createTextCallReader } from "./text-calls.ts";

export function openChat(options: BridgeOptions): Stream {
  const { provider, model, endpoint } = options;
  const owner = nativeOfChat(provider.id, model, endpoint.url);
  const isMarked = /^~?anthropic\//.test(model);
  return openBridge(
    {
      encode: (request) => encodeChat(model, request, owner, { isMarked, dialect: provider.dialect }),
      send: postTo(`${endpoint.url}/chat/completions`),
      decode: (request) => createChatDecoder(request, model, owner),
    },
    options,
  );
}

/** `owner` marks native replies that may be sent back. `isMarked`: the server caches only what is marked. */
export function encodeChat(
  model: string,
  request: ModelRequest,
  owner: string,
  { isMarked = false, dialect }: { readonly isMarked?: boolean; readonly dialect?: ChatDialect | undefined } = {},
): ChatItem {
  const { format } = request;
  const messages = encodeMessages(request, dialect?.strictMessages === true ? strictForm : chatForm, owner);
  return {
    model,
    stream: true,
    ...(dialect?.countsUnasked === true ? {} : { stream_options: { include_usage: true } }),
    ...(dialect?.hasCacheKey === true ? { prompt_cache_key: cacheKeyOf(request) } : {}),
    messages: isMarked ? markEnds(messages) : messages,
    max_tokens: request.maxOutputTokens,
    ...(request.temperature === null ? {} : { temperature: request.temperature }),
    ...encodeTools(request),
    ...(format === null
      ? {}
      : {
          response_format: {
            type: "json_schema",
            json_schema: { name: format.name, strict: true, schema: format.schema },
          },
        }),
  };
}

/** Marks the end of what every request shares and of what the next one repeats: the instructions, and the last message. */
const markEnds = (messages: readonly ChatItem[]): readonly ChatItem[] =>
  messages.map((message, at) =>
    message["role"] === "system" || at === messages.length - 1
      ? {
          ...message,
          content: [{ type: "text", text: message["content"] ?? "", cache_control: { type: "ephemeral" } }],
        }
      : message,
  );

/** How a server wants calls and their results. */
export interface MessageForm {
  readonly call: (call: Call) => ChatItem;
  readonly result: (result: CallResult) => ChatItem;
  /** A message of the model between results and a user's message, for servers that want one there; absent: none. */
  readonly pause?: ChatItem;
}

const chatForm: MessageForm = {
  call: ({ id, name, input }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(input) } }),
  result: ({ id }) => ({ tool_call_id: id }),
};

/** For servers whose call ids are nine letters and digits, and which accept no user message after a tool's. */
const strictForm: MessageForm = {
  call: (call) => chatForm.call({ ...call, id: shortId(call.id) }),
  result: ({ id }) => ({ tool_call_id: shortId(id) }),
  pause: { role: "assistant", content: "Done." },
};

/** A nine-character id, always the same for the same id, which another provider may have given. */
const shortId = (id: string): string => (/^[A-Za-z0-9]{9}$/.test(id) ? id : digest(id).slice(0, 9));

export function encodeMessages({ system, messages }: ModelRequest, form: MessageForm, owner: string): ChatItem[] {
  return [
    ...(system === "" ? [] : [{ role: "system", content: system }]),
    ...messages.flatMap((message, at) => [
      ...(form.pause !== undefined && message.role === "user" && messages[at - 1]?.role === "tools"
        ? [form.pause]
        : []),
      ...encodeMessage(message, form, owner),
    ]),
  ];
}

function encodeMessage(message: Message, { call, result }: MessageForm, owner: string): readonly ChatItem[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: message.text }];
    case "tools":
      return message.results.map((each) => ({
        role: "tool",
        ...result(each),
        content: each.ok ? each.text : `error: ${each.text}`,
      }));
    case "assistant": {
      const { reply, calls: extras } = reasoningFor(owner, message.native);
      const calls = message.calls.map((each, at) => ({ ...call(each), ...extras[at] }));
      const made = calls.length === 0 ? {} : { tool_calls: calls };
      return [{ role: "assistant", content: message.text, ...reply, ...made }];
    }
  }
}

export function encodeTools({ tools, toolChoice }: ModelRequest): ChatItem {
  if (tools.length === 0 || toolChoice === "none") return {};
  return {
    tools: tools.map(({ name, description, schema }) => ({
      type: "function",
      function: { name, description, parameters: withoutDialect(schema) },
    })),
  };
}

/** Finish reasons of a reply that was cut. Any other reason, known or not, is a normal end. */
const cuts = new Set(["length", "max_tokens", "model_length", "load", "unload", "abort", "error"]);

interface Arriving {
  readonly id: string;
  name: string;
  /** JSON text, or the value itself. */
  input: unknown;
  /** What the server says beside the call; null: nothing. */
  extra: unknown;
}

/**
 * `owner` marks the native form of the reply. `onEnd` gets the final usage, and whether the reply was cut before it held
 * anything but thoughts.
 */
export function createChatDecoder(
  request: ModelRequest,
  model: string,
  owner: string,
  onEnd: (usage: Usage, isMute: boolean) => void = () => {},
): Decoder {
  const tally = createReplyTally(model, turnOf(request));
  const thoughts = createThoughtSplitter();
  const written = createTextCallReader(request.toolChoice === "none" ? [] : request.tools.map(({ name }) => name));
  const calls = new Map<unknown, Arriving>();
  const complete: Arriving[] = [];
  const kept = createReasoningKeeper();
  const usage: Record<string, unknown> = {};
  let served = model;
  let reason = "";
  let finished = false;
  /** Text of one piece of the wire, which is searched as one. */
  let arrived = "";
  /** The server's thoughts, as long as they may be the reply. */
  let reasoning = "";
  /** No text has come yet: a server that enforces a schema on a thinking model may send the JSON as its thoughts. */
  let isSilent = request.format !== null;

  function readCall(piece: WireFields, position: number): void {
    const made = fields(piece["function"]);
    const index = piece["index"] ?? position;
    const id = textIn(piece["id"]);
    const known = calls.get(index);
    const isNew = known === undefined || (id !== "" && known.id !== "" && id !== known.id);
    const call = isNew ? { id, name: "", input: "", extra: null } : known;
    if (isNew) {
      calls.set(index, call);
      complete.push(call);
    }
    call.extra ??= piece["extra_content"] ?? null;
    call.name ||= textIn(made["name"]);
    const input = made["arguments"] ?? "";
    call.input = typeof input === "string" && typeof call.input === "string" ? call.input + input : input;
  }

  function readCalls(pieces: readonly WireFields[]): void {
    const whole = pieces.every(isWhole);
    pieces.forEach((piece, position) => {
      readCall(piece, whole ? complete.length : position);
    });
  }

  function readMessage(message: WireFields): void {
    if (message["tool_calls"] !== undefined) readCalls(listIn(message["tool_calls"]).map(fields));
    if (textIn(message["refusal"]) !== "") throw refused("the request", textIn(message["refusal"]));
    const said = readContent(message["content"]);
    const thought = kept.push(message) || said.thought;
    if (thought !== "") readText();
    tally.thought(thought);
    arrived += said.text;
    isSilent &&= arrived.trim() === "";
    reasoning = isSilent ? reasoning + thought : "";
  }

  function readText(): void {
    say(thoughts.push(arrived));
    arrived = "";
  }

  /** Reasoning that the server left in the text does not belong to it. */
  function say({ text: said, thought }: Split): void {
    tally.thought(thought);
    tally.text(written.push(said));
  }

  /** At the end of the reply: emits its calls, and the text that was held back. */
  function finish(): void {
    if (finished) return;
    finished = true;
    readText();
    say(thoughts.end());
    const rest = written.end();
    const made = complete.length > 0 ? complete : rest.calls.map((call) => ({ id: "", ...call }));
    if (complete.length > 0 || rest.calls.length === 0) tally.text(rest.text);
    for (const { id, name, input } of made) tally.call(id, name, input);
    if (!cuts.has(reason) && /\{[\s\S]*\}/.test(reasoning)) tally.text(reasoning);
  }

  function readReason(given: string): void {
    reason = given.toLowerCase();
    if (reason === "content_filter") throw refused("to go on", reason);
    finish();
  }

  return {
    read(chunk) {
      if (chunk === closing) return finish();
      const reply = fields(chunk);
      served = textIn(reply["model"]) || served;
      if (reply["usage"] !== undefined) Object.assign(usage, fields(reply["usage"]));
      const choice = fields(listIn(reply["choices"])[0]);
      readMessage(fields(choice["delta"] ?? choice["message"] ?? reply["message"]));
      if (textIn(choice["finish_reason"]) !== "") readReason(textIn(choice["finish_reason"]));
      if (reply["done"] !== true) return;
      Object.assign(usage, counts(reply));
      readReason(textIn(reply["done_reason"]) || "stop");
    },
    take() {
      readText();
      return tally.take();
    },
    finished: () => finished,
    end(key) {
      const stop = tally.stop(finished, cuts.has(reason));
      const counted = readUsage(usage);
      onEnd(counted, stop === "length" && !tally.hasSpoken());
      const content = kept.whole(complete.map(({ extra }) => extra));
      const native = content === null ? null : { model: owner, content };
      const charged = readCharge(usage);
      return { type: "done", stop, usage: counted, ...(charged === null ? {} : { charged }), served, key, native };
    },
  };
}

/** Reads content that is text, or the list of parts that Mistral's thinking models send. */
function readContent(content: unknown): Split {
  if (typeof content === "string") return { text: content, thought: "" };
  const parts = listIn(content).map(fields);
  const join = (all: readonly WireFields[]) => all.map((part) => textIn(part["text"])).join("");
  return { text: join(parts), thought: join(parts.flatMap(({ thinking }) => listIn(thinking).map(fields))) };
}

/** Whether a call came whole, as Ollama sends each in a separate message, without index. */
function isWhole(piece: WireFields): boolean {
  const { arguments: input, index: inner } = fields(piece["function"]);
  return piece["index"] === undefined && (typeof input === "object" || inner !== undefined);
}

function counts(reply: WireFields): WireFields {
  const { prompt_eval_count, eval_count } = reply;
  return {
    ...(prompt_eval_count === undefined ? {} : { prompt_tokens: prompt_eval_count }),
    ...(eval_count === undefined ? {} : { completion_tokens: eval_count }),
  };
}

/** OpenAI's names, and those of DeepSeek, Moonshot and OpenRouter for what they count elsewhere. */
function readUsage(usage: WireFields): Usage {
  const details = fields(usage["prompt_tokens_details"]);
  const written = count(details["cache_write_tokens"]);
  return {
    input: count(usage["prompt_tokens"]),
    cached: count(details["cached_tokens"]) || count(usage["prompt_cache_hit_tokens"]) || count(usage["cached_tokens"]),
    ...(written === 0 ? {} : { written }),
    output: count(usage["completion_tokens"]),
    thought: count(fields(usage["completion_tokens_details"])["reasoning_tokens"]),
  };
}

/** OpenRouter's charge in USD, with that of the provider behind it where the user's own key pays there. */
function readCharge({ cost, is_byok, cost_details }: WireFields): number | null {
  const amount = (value: unknown) => (typeof value === "number" && value >= 0 && value < maxCharge ? value : null);
  const own = amount(cost);
  if (own === null || is_byok !== true) return own;
  return own + (amount(fields(cost_details)["upstream_inference_cost"]) ?? 0);
}

/** USD. No call costs more: who says so does not count. */
const maxCharge = 10_000;
