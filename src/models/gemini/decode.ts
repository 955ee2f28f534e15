/** Decodes Gemini's reply: its chunks become pai's events, with one `done` at the end. */
import type { Json, Usage } from "../../core/model.ts";
import type { Decoder } from "../wire/decoder.ts";
import { count, fields, listIn, textIn, type WireFields } from "../wire/fields.ts";
import { createReplyTally, refused, unusable } from "../wire/replies.ts";

const refusals = new Set([
  "SAFETY",
  "RECITATION",
  "PROHIBITED_CONTENT",
  "BLOCKLIST",
  "SPII",
  "LANGUAGE",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION",
]);
const malformed = new Set([
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MISSING_THOUGHT_SIGNATURE",
]);
/** Finish reasons of a reply that was cut (OTHER is one): what it left unfinished must not count as finished. */
const cuts = new Set(["MAX_TOKENS", "LENGTH", "OTHER"]);

/** `model`: the bare name that was asked for. `turn`: number of this reply, so that made-up call ids stay unique. */
export function createGeminiDecoder(model: string, turn: number): Decoder {
  const tally = createReplyTally(model, turn);
  const parts: Record<string, unknown>[] = [];
  const usage: Record<string, unknown> = {};
  /** Text that arrived in one piece of the wire becomes one event. */
  let arrived = "";
  let served = model;
  let finish = "";

  function readText(): void {
    if (arrived === "") return;
    remember(parts, { text: arrived });
    tally.text(arrived);
    arrived = "";
  }

  function readPart(part: WireFields): void {
    if (typeof part["text"] === "string" && Object.keys(part).length === 1) {
      arrived += part["text"];
      return;
    }
    readText();
    remember(parts, part);
    if (part["functionCall"] !== undefined) {
      const { id, name, args } = fields(part["functionCall"]);
      if (textIn(name) !== "") tally.call(textIn(id), textIn(name), args);
    }
    if (part["thought"] === true) tally.thought(textIn(part["text"]));
    else tally.text(textIn(part["text"]));
  }

  function readFinish({ finishReason, finishMessage }: WireFields): void {
    finish = textIn(finishReason).toUpperCase();
    if (refusals.has(finish)) throw refused(`to go on (${finish})`, textIn(finishMessage));
    if (malformed.has(finish)) throw unusable(model, finish);
  }

  function readBlock({ blockReason, blockReasonMessage }: WireFields): void {
    if (textIn(blockReason) !== "") throw refused(`the request (${textIn(blockReason)})`, textIn(blockReasonMessage));
  }

  return {
    read(chunk) {
      const { candidates, promptFeedback, usageMetadata, modelVersion } = fields(chunk);
      Object.assign(usage, fields(usageMetadata));
      served = textIn(modelVersion) || served;
      if (promptFeedback !== undefined) readBlock(fields(promptFeedback));
      const candidate = fields(listIn(candidates)[0]);
      for (const part of listIn(fields(candidate["content"])["parts"])) readPart(fields(part));
      if (textIn(candidate["finishReason"]) !== "") readFinish(candidate);
    },
    take() {
      readText();
      return tally.take();
    },
    finished: () => finish !== "",
    end(key) {
      return {
        type: "done",
        stop: tally.stop(finish !== "", cuts.has(finish)),
        usage: readUsage(usage),
        served,
        key,
        native: { model, content: { role: "model", parts: parts as Json[] } },
      };
    },
  };
}

function readUsage(usage: WireFields): Usage {
  const thought = count(usage["thoughtsTokenCount"]);
  return {
    input: count(usage["promptTokenCount"]) + count(usage["toolUsePromptTokenCount"]),
    cached: count(usage["cachedContentTokenCount"]),
    output: count(usage["candidatesTokenCount"]) + thought,
    thought,
  };
}

/** Keeps a part to send it back later; plain text is joined, a part with a signature stays as it is. */
function remember(parts: Record<string, unknown>[], part: WireFields): void {
  const last = parts.at(-1);
  if (last !== undefined && isPlain(last) && isPlain(part) && last["thought"] === part["thought"])
    last["text"] = textIn(last["text"]) + textIn(part["text"]);
  else if (Object.keys(part).length > 0) parts.push({ ...part });
}

const isPlain = (part: WireFields) => typeof part["text"] === "string" && part["thoughtSignature"] === undefined;
