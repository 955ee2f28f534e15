/** The bridge to OpenAI's Responses API. */

import type { Fields as Item, Json, Message, ModelRequest, Usage } from "../../core/model.ts";
import type { Stream } from "../stream.ts";
import { cacheKeyOf, count, fields, listIn, textIn, type WireFields } from "../wire/fields.ts";
import { type BridgeOptions, openBridge, postTo, turnOf } from "../wire/open-bridge.ts";
import { createReplyTally, type Decoder, refused } from "../wire/replies.ts";

export function openOpenai(options: BridgeOptions): Stream {
  const { model, endpoint } = options;
  return openBridge(
    {
      encode: (request) => encodeOpenai(model, request),
      send: postTo(`${endpoint.url}/responses`),
      decode: (request) => createOpenaiDecoder(model, turnOf(request)),
    },
    options,
  );
}

/** Marks native replies of this model: only these may be sent back unchanged. */
export const nativeOfOpenai = (model: string): string => `openai:${model}`;

/** Models that are known not to think. Any other returns its reasoning encrypted, or refuses to. */
const isThoughtless = (model: string): boolean => /gpt-[34]|chat/.test(model);

/** OpenAI counts the length that a reply may have as used, so it is told only where the user capped it. */
export function encodeOpenai(model: string, request: ModelRequest): Item {
  const { system, tools, format } = request;
  return {
    model,
    stream: true,
    store: false,
    ...(system === "" ? {} : { instructions: system }),
    input: request.messages.flatMap((message) => encodeMessage(model, message)),
    ...(request.isCapped ? { max_output_tokens: Math.max(16, request.maxOutputTokens) } : {}),
    ...(request.temperature === null ? {} : { temperature: request.temperature }),
    ...(isThoughtless(model) ? {} : { include: ["reasoning.encrypted_content"] }),
    prompt_cache_key: cacheKeyOf(request),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, schema }) => ({
            type: "function",
            name,
            description,
            parameters: schema,
            strict: false,
          })),
          tool_choice: request.toolChoice,
        }),
    ...(format === null
      ? {}
      : {
          text: { format: { type: "json_schema", name: format.name, strict: true, schema: format.schema } },
        }),
  };
}

function encodeMessage(model: string, message: Message): readonly Item[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: message.text }];
    case "tools":
      return message.results.map(({ id, ok, text }) => ({
        type: "function_call_output",
        call_id: id,
        output: ok ? text : `error: ${text}`,
      }));
    case "assistant":
      return encodeReply(model, message);
  }
}

function encodeReply(model: string, message: Extract<Message, { role: "assistant" }>): readonly Item[] {
  const isOwn = message.native?.model === nativeOfOpenai(model);
  const own = isOwn ? listIn(fields(message.native.content)["items"]) : [];
  if (own.length > 0) return own as readonly Item[];
  return [
    ...(message.text === "" ? [] : [{ role: "assistant", content: message.text }]),
    ...message.calls.map(({ id, name, input }) => ({
      type: "function_call",
      call_id: id,
      name,
      arguments: JSON.stringify(input),
    })),
  ];
}

function createOpenaiDecoder(model: string, turn: number): Decoder {
  const tally = createReplyTally(model, turn);
  const items: WireFields[] = [];
  let response: WireFields = {};
  let finished = false;
  let refusal = "";
  let streamed = false;
  /** Numbers of the events so far: some gateways repeat events. One without a number, or with 0, always counts. */
  const known = new Set<unknown>();

  /** Reads a whole item of the reply; its text was streamed before, but its call was not. */
  function readItem(item: WireFields): void {
    items.push(item);
    if (item["type"] !== "function_call" || item["status"] === "incomplete") return;
    tally.call(textIn(item["call_id"]) || textIn(item["id"]), textIn(item["name"]), item["arguments"]);
  }

  function readWhole(whole: readonly WireFields[]): void {
    for (const item of whole) {
      for (const part of listIn(item["content"]).map(fields)) {
        tally.text(textIn(part["text"]));
        refusal ||= textIn(part["refusal"]);
      }
      readItem(item);
    }
  }

  function readEnd(last: WireFields): void {
    response = { ...response, ...last };
    finished = true;
    const whole = listIn(response["output"]).map(fields);
    if (items.length === 0 && !streamed) readWhole(whole);
    // Azure sends the encrypted content of reasoning only here; some gateways send no items here.
    else if (whole.length >= items.length) items.splice(0, items.length, ...whole);
    const reason = textIn(fields(response["incomplete_details"])["reason"]);
    if (reason === "content_filter") throw refused("to go on (content_filter)", refusal);
    if (refusal !== "") throw refused("the request", refusal);
  }

  return {
    read(chunk) {
      const event = fields(chunk);
      const number = count(event["sequence_number"]);
      if (known.has(number)) return;
      if (number > 0) known.add(number);
      switch (event["type"]) {
        case "response.created":
        case "response.in_progress":
          response = { ...response, ...fields(event["response"]) };
          return;
        case "response.output_text.delta":
          streamed = true;
          return tally.text(textIn(event["delta"]));
        case "response.reasoning_summary_text.delta":
        case "response.reasoning_text.delta":
          return tally.thought(textIn(event["delta"]));
        case "response.refusal.delta":
          refusal += textIn(event["delta"]);
          return;
        case "response.refusal.done":
          refusal = textIn(event["refusal"]) || refusal || "no reason given";
          return;
        case "response.output_item.done":
          return readItem(fields(event["item"]));
        case undefined:
          // The answer to a request that asked for no stream.
          return event["object"] === "response" ? readEnd(event) : undefined;
        case "response.completed":
        case "response.incomplete":
          return readEnd(fields(event["response"]));
      }
    },
    take: tally.take,
    finished: () => finished,
    end(key) {
      const stop = tally.stop(finished, response["status"] === "incomplete");
      return {
        type: "done",
        stop,
        usage: readUsage(fields(response["usage"])),
        served: textIn(response["model"]) || model,
        key,
        native: { model: nativeOfOpenai(model), content: { items: returnable(items) as Json[] } },
      };
    },
  };
}

/** OpenAI stored nothing, so reasoning needs its encrypted content; without it the others lose their ids. */
function returnable(items: readonly WireFields[]): readonly WireFields[] {
  const kept = items.filter(({ type, encrypted_content }) => type !== "reasoning" || textIn(encrypted_content) !== "");
  return kept.length === items.length ? items : kept.map(({ id: _, ...item }) => item);
}

function readUsage(usage: WireFields): Usage {
  const details = fields(usage["input_tokens_details"]);
  const written = count(details["cache_write_tokens"]);
  return {
    input: count(usage["input_tokens"]),
    cached: count(details["cached_tokens"]),
    ...(written === 0 ? {} : { written }),
    output: count(usage["output_tokens"]),
    thought: count(fields(usage["output_tokens_details"])["reasoning_tokens"]),
  };
}
