/** Decodes a reply of OpenAI's Responses API: its events become pai's events, with one `done` at the end. */
import type { Json, Usage } from "../../core/model.ts";
import type { Decoder } from "../wire/decoder.ts";
import { count, type Fields, fields, list, text } from "../wire/fields.ts";
import { createTally, refused } from "../wire/replies.ts";
import { nativeOf } from "./encode.ts";

/** `model`: the bare name that was asked for. `turn`: number of this reply. */
export function createOpenaiDecoder(model: string, turn: number): Decoder {
  const tally = createTally(model, turn);
  const items: Fields[] = [];
  let response: Fields = {};
  let finished = false;
  let refusal = "";
  let streamed = false;
  /** The events before this number were read. */
  let next = 1;
  /** Numbers of events that were read before their turn. */
  const early = new Set<number>();

  /** Whether a gateway repeats an event. Events without a number, or with the number 0, always count as new. */
  function isRepeated(sequence: unknown): boolean {
    if (typeof sequence !== "number" || sequence <= 0) return false;
    const isKnown = sequence < next || early.has(sequence);
    if (sequence === next) next += 1;
    else if (!isKnown) early.add(sequence);
    return isKnown;
  }

  /** Reads a whole item of the reply; its text was streamed before, but its call was not. */
  function readItem(item: Fields): void {
    items.push(item);
    if (item["type"] !== "function_call" || item["status"] === "incomplete") return;
    tally.call(text(item["call_id"]) || text(item["id"]), text(item["name"]), item["arguments"]);
  }

  /** Reads items of which nothing was streamed. */
  function readWhole(whole: readonly Fields[]): void {
    for (const item of whole) {
      for (const part of list(item["content"]).map(fields)) {
        tally.text(text(part["text"]));
        refusal ||= text(part["refusal"]);
      }
      readItem(item);
    }
  }

  function readEnd(last: Fields): void {
    response = { ...response, ...last };
    finished = true;
    const whole = list(response["output"]).map(fields);
    if (items.length === 0 && !streamed) readWhole(whole);
    // Azure sends the encrypted content of reasoning only here; some gateways send no items here.
    else if (whole.length >= items.length) items.splice(0, items.length, ...whole);
    const reason = text(fields(response["incomplete_details"])["reason"]);
    if (reason === "content_filter") throw refused("to go on (content_filter)", refusal);
    if (refusal !== "") throw refused("the request", refusal);
  }

  return {
    read(chunk) {
      const event = fields(chunk);
      if (isRepeated(event["sequence_number"])) return;
      switch (event["type"]) {
        case "response.created":
        case "response.in_progress":
          response = { ...response, ...fields(event["response"]) };
          return;
        case "response.output_text.delta":
          streamed = true;
          return tally.text(text(event["delta"]));
        case "response.reasoning_summary_text.delta":
        case "response.reasoning_text.delta":
          return tally.thought(text(event["delta"]));
        case "response.refusal.delta":
          refusal += text(event["delta"]);
          return;
        case "response.refusal.done":
          refusal = text(event["refusal"]) || refusal || "no reason given";
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
        served: text(response["model"]) || model,
        key,
        native: { model: nativeOf(model), content: { items: returnable(items) as Json[] } },
      };
    },
  };
}

/**
 * The items that can be sent back: OpenAI stored nothing, so reasoning needs its encrypted content. Without it the others
 * lose their ids, because an id stands for an item that belongs to its reasoning.
 */
function returnable(items: readonly Fields[]): readonly Fields[] {
  const kept = items.filter(({ type, encrypted_content }) => type !== "reasoning" || text(encrypted_content) !== "");
  return kept.length === items.length ? items : kept.map(({ id: _, ...item }) => item);
}

/** Cached and written tokens are part of the input, reasoning is part of the output. */
function readUsage(usage: Fields): Usage {
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
