/** The bridge to Anthropic's Messages API. */

import { isRepeated, type Json, type Message, type ModelRequest, type Usage } from "../../core/model.ts";
import type { Stream } from "../stream.ts";
import { count, fields, listIn, parseJson, textIn, type WireFields } from "../wire/fields.ts";
import { type BridgeOptions, openBridge, postTo, turnOf } from "../wire/open-bridge.ts";
import { createReplyTally, type Decoder, refused } from "../wire/replies.ts";

export function openAnthropic(options: BridgeOptions): Stream {
  const { model, endpoint } = options;
  return openBridge(
    {
      encode: (request) => encodeAnthropic(model, request),
      send: postTo(`${endpoint.url}/v1/messages`),
      decode: (request) => createAnthropicDecoder(model, turnOf(request)),
    },
    options,
  );
}

type Block = { readonly [key: string]: Json };
interface Turn {
  readonly role: "user" | "assistant";
  readonly content: readonly Block[];
}

/** Marks native replies of this model: only these may be sent back unchanged. */
export const nativeOfAnthropic = (model: string): string => `anthropic:${model}`;

const cached = { cache_control: { type: "ephemeral" } };

/** Models that think only when asked to. Newer ones do it unasked, and would show nothing of it. */
const thinksUnasked = (model: string): boolean => !/claude-(2|3|instant|(opus|sonnet|haiku)-4)/.test(model);

/** Thinking goes back whole to the model that made it: its signature depends on all messages before. */
export function encodeAnthropic(model: string, request: ModelRequest): Block {
  const { system, tools, format } = request;
  const turns = joinTurns(request.messages.map((message) => encodeMessage(model, message)));
  return {
    model,
    stream: true,
    max_tokens: request.maxOutputTokens,
    ...(system === "" ? {} : { system: [{ type: "text", text: system, ...cached }] }),
    messages: (isRepeated(request) ? markLast(turns) : turns) as unknown as Json,
    ...(request.effort == null && thinksUnasked(model)
      ? { thinking: { type: "adaptive", display: "summarized" } }
      : {}),
    ...(request.temperature === null ? {} : { temperature: Math.min(1, request.temperature) }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
          tool_choice: { type: request.toolChoice },
        }),
    ...(format === null ? {} : { output_config: { format: { type: "json_schema", schema: format.schema } } }),
  };
}

function encodeMessage(model: string, message: Message): Turn {
  switch (message.role) {
    case "user":
      return { role: "user", content: textBlocks(message.text) };
    case "tools":
      return {
        role: "user",
        content: message.results.map(({ id, ok, text }) => ({
          type: "tool_result",
          tool_use_id: toId(id),
          content: text,
          ...(ok ? {} : { is_error: true }),
        })),
      };
    case "assistant":
      return { role: "assistant", content: encodeReply(model, message) };
  }
}

function encodeReply(model: string, message: Extract<Message, { role: "assistant" }>): readonly Block[] {
  const isOwn = message.native?.model === nativeOfAnthropic(model);
  const own = isOwn ? listIn(fields(message.native.content)["blocks"]) : [];
  if (own.length > 0) return own as readonly Block[];
  return [
    ...textBlocks(message.text),
    ...message.calls.map(({ id, name, input }) => ({ type: "tool_use", id: toId(id), name, input })),
  ];
}

const textBlocks = (said: string): readonly Block[] => (said.trim() === "" ? [] : [{ type: "text", text: said }]);

/** Replaces characters in ids of other providers that Anthropic refuses. */
const toId = (id: string): string => id.replace(/[^\w-]/g, "_");

/** Joins neighbouring messages of one role, since the results of all calls must be in one message. */
function joinTurns(turns: readonly Turn[]): readonly Turn[] {
  const joined: Turn[] = [];
  for (const turn of turns.filter(({ content }) => content.length > 0)) {
    const last = joined.at(-1);
    if (last?.role !== turn.role) joined.push(turn);
    else joined[joined.length - 1] = { role: turn.role, content: [...last.content, ...turn.content] };
  }
  return joined;
}

function markLast(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.at(-1);
  const block = last?.content.at(-1);
  if (last === undefined || block === undefined || last.role !== "user") return turns;
  return [...turns.slice(0, -1), { role: last.role, content: [...last.content.slice(0, -1), { ...block, ...cached }] }];
}

/** Stop reasons of a reply that was cut: what it left unfinished must not count as finished. */
const cuts = new Set(["max_tokens", "model_context_window_exceeded", "pause_turn"]);

interface Arriving {
  readonly block: Record<string, unknown>;
  json: string;
}

function createAnthropicDecoder(model: string, turn: number): Decoder {
  const tally = createReplyTally(model, turn);
  const open = new Map<unknown, Arriving>();
  const blocks: WireFields[] = [];
  let usage: WireFields = {};
  let served = model;
  let stopReason = "";
  let closed = false;
  /** Text that arrived in one piece of the wire becomes one event; `writing`: its block, `arrived`: the text. */
  let writing: Arriving | null = null;
  let arrived = "";

  function add(at: Arriving, key: string, said: string): void {
    at.block[key] = textIn(at.block[key]) + said;
  }

  function readText(): void {
    if (writing !== null) add(writing, "text", arrived);
    tally.text(arrived);
    writing = null;
    arrived = "";
  }

  function readDelta(at: Arriving, delta: WireFields): void {
    switch (delta["type"]) {
      case "text_delta":
        if (writing !== at) readText();
        writing = at;
        arrived += textIn(delta["text"]);
        break;
      case "thinking_delta":
        readText();
        add(at, "thinking", textIn(delta["thinking"]));
        tally.thought(textIn(delta["thinking"]));
        break;
      case "signature_delta":
        add(at, "signature", textIn(delta["signature"]));
        break;
      case "input_json_delta":
        at.json += textIn(delta["partial_json"]);
    }
  }

  function close({ block, json }: Arriving): void {
    readText();
    if (block["type"] !== "tool_use") {
      if (block["type"] !== "text" || textIn(block["text"]) !== "") blocks.push(block);
      return;
    }
    const input = json === "" ? (block["input"] ?? {}) : json;
    blocks.push({ ...block, input: typeof input === "string" ? (parseJson(input) ?? {}) : input });
    tally.call(textIn(block["id"]), textIn(block["name"]), input);
  }

  function readStart(message: WireFields): void {
    usage = { ...usage, ...given(fields(message["usage"])) };
    served = textIn(message["model"]) || served;
  }

  function readWhole(message: WireFields): void {
    readStart(message);
    for (const block of listIn(message["content"]).map(fields)) {
      tally.thought(textIn(block["thinking"]));
      tally.text(textIn(block["text"]));
      close({ block: { ...block }, json: "" });
    }
    closed = true;
    readEnd(message, fields(message["usage"]));
  }

  function readEnd({ stop_reason, stop_details }: WireFields, counted: WireFields): void {
    stopReason = textIn(stop_reason) || stopReason;
    usage = { ...usage, ...given(counted) };
    if (stopReason === "refusal") throw refused("to go on (refusal)", textIn(fields(stop_details)["explanation"]));
  }

  return {
    read(chunk) {
      const event = fields(chunk);
      const at = open.get(event["index"]);
      switch (event["type"]) {
        case "message":
          return readWhole(event);
        case "message_start":
          return readStart(fields(event["message"]));
        case "content_block_start": {
          const block = { ...fields(event["content_block"]) };
          open.set(event["index"], { block, json: "" });
          readText();
          if (block["type"] === "text") tally.text(textIn(block["text"]));
          return;
        }
        case "content_block_delta":
          if (at !== undefined) readDelta(at, fields(event["delta"]));
          return;
        case "content_block_stop":
          open.delete(event["index"]);
          if (at !== undefined) close(at);
          return;
        case "message_delta":
          return readEnd(fields(event["delta"]), fields(event["usage"]));
        case "message_stop":
          closed = true;
      }
    },
    take() {
      readText();
      return tally.take();
    },
    finished: () => closed,
    end(key) {
      const stop = tally.stop(closed, cuts.has(stopReason));
      const native = { model: nativeOfAnthropic(model), content: { blocks: blocks as Json[] } };
      return { type: "done", stop, usage: readUsage(usage), served, key, native };
    },
  };
}

/** The counts without nulls: a null in a later event leaves the earlier count as it is. */
const given = (usage: WireFields): WireFields =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null));

/** Anthropic counts cached and written tokens apart from the input; pai counts them as parts of it. */
function readUsage(usage: WireFields): Usage {
  const cached = count(usage["cache_read_input_tokens"]);
  const written = count(usage["cache_creation_input_tokens"]);
  return {
    input: count(usage["input_tokens"]) + cached + written,
    cached,
    ...(written === 0 ? {} : { written }),
    output: count(usage["output_tokens"]),
    thought: count(fields(usage["output_tokens_details"])["thinking_tokens"]),
  };
}
