/** Decodes Anthropic's reply: its events become pai's events, with one `done` at the end. */
import type { Json, Usage } from "../../core/model.ts";
import type { Decoder } from "../wire/decoder.ts";
import { count, fields, listIn, parseJson, textIn, type WireFields } from "../wire/fields.ts";
import { createReplyTally, refused } from "../wire/replies.ts";
import { nativeOfAnthropic } from "./encode.ts";

/** Stop reasons of a reply that was cut: what it left unfinished must not count as finished. */
const cuts = new Set(["max_tokens", "model_context_window_exceeded", "pause_turn"]);

/** A block as it arrives: `json` is the input of a call so far. */
interface Arriving {
  readonly block: Record<string, unknown>;
  json: string;
}

/** `model`: the bare name that was asked for. `turn`: number of this reply. */
export function createAnthropicDecoder(model: string, turn: number): Decoder {
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

  /** Reads the answer to a request that asked for no stream. */
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
function given(usage: WireFields): WireFields {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null));
}

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
