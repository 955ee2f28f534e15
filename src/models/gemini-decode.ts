/** What Gemini answers, in pai's words: chunks in, events out, and one verdict at the end. */
import type { PaiError } from "../core/error.ts";
import type { Json, ModelEvent, StopReason, Usage } from "../core/model.ts";
import type { Decoder } from "./bridge.ts";
import { count, type Fields, fields, list, text } from "./fields.ts";
import { failure, never } from "./http-errors.ts";

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
/** Ends that are not the model's own; OTHER is one too: what it left unfinished must not count as finished. */
const cuts = new Set(["MAX_TOKENS", "LENGTH", "OTHER"]);

/** `model`: the bare name that was asked for. `turn`: replies so far, so that made-up call ids stay unique. */
export function createGeminiDecoder(model: string, turn: number): Decoder {
  const parts: Fields[] = [];
  let usage: Fields = {};
  let served = model;
  let finish = "";
  let calls = 0;
  let spoken = false;

  function readPart(part: Fields): readonly ModelEvent[] {
    remember(parts, part);
    const call = fields(part["functionCall"]);
    if (text(call["name"]) !== "") {
      calls += 1;
      const id = text(call["id"]) || `call-${turn}-${calls}`;
      return [{ type: "call", call: { id, name: text(call["name"]), input: (call["args"] ?? {}) as Json } }];
    }
    const said = text(part["text"]);
    if (said === "") return [];
    if (part["thought"] === true) return [{ type: "thought", text: said }];
    spoken = true;
    return [{ type: "text", text: said }];
  }

  return {
    read(chunk) {
      const { candidates, promptFeedback, usageMetadata, modelVersion } = fields(chunk);
      usage = { ...usage, ...fields(usageMetadata) };
      served = text(modelVersion) || served;
      const block = text(fields(promptFeedback)["blockReason"]);
      if (block !== "") throw refused(`the request (${block})`, text(fields(promptFeedback)["blockReasonMessage"]));
      const candidate = fields(list(candidates)[0]);
      const events = list(fields(candidate["content"])["parts"]).flatMap((part) => readPart(fields(part)));
      finish = text(candidate["finishReason"]).toUpperCase() || finish;
      if (refusals.has(finish)) throw refused(`to go on (${finish})`, text(candidate["finishMessage"]));
      if (malformed.has(finish)) {
        throw failure("reply_invalid", `the reply of ${model} cannot be used (${finish})`, never, {
          hint: "ask again, or choose another model",
        });
      }
      return events;
    },
    finished: () => finish !== "",
    end(key) {
      const empty = calls === 0 && !spoken;
      if (finish === "" && parts.length > 0) {
        throw failure("reply_cut", `the reply of ${model} ended before it was whole`, never, {
          hint: "ask again",
        });
      }
      if (empty && !cuts.has(finish))
        throw failure("reply_empty", `${model} sent an empty reply`, never, {
          hint: "ask again, or choose another model",
        });
      return {
        type: "done",
        stop: stopOf(finish, calls),
        usage: readUsage(usage),
        served,
        key,
        native: { model, content: { role: "model", parts: parts as Json[] } },
      };
    },
  };
}

function stopOf(finish: string, calls: number): StopReason {
  if (cuts.has(finish)) return "length";
  return calls > 0 ? "calls" : "end";
}

function readUsage(usage: Fields): Usage {
  const thought = count(usage["thoughtsTokenCount"]);
  return {
    input: count(usage["promptTokenCount"]) + count(usage["toolUsePromptTokenCount"]),
    cached: count(usage["cachedContentTokenCount"]),
    output: count(usage["candidatesTokenCount"]) + thought,
    thought,
  };
}

/** Keeps a part for the way back; plain text is joined, a part with a signature stays as it is. */
function remember(parts: Fields[], part: Fields): void {
  const last = parts.at(-1);
  const plain = (each: Fields | undefined) =>
    typeof each?.["text"] === "string" && each["thoughtSignature"] === undefined;
  if (plain(last) && plain(part) && last?.["thought"] === part["thought"]) {
    parts[parts.length - 1] = { ...last, text: text(last?.["text"]) + text(part["text"]) };
  } else if (Object.keys(part).length > 0) {
    parts.push(part);
  }
}

function refused(what: string, why: string): PaiError {
  const said = why === "" ? "" : `: ${why.slice(0, 300)}`;
  return failure("reply_blocked", `the model refused ${what}${said}`, never, {
    hint: "word the task differently, or choose another model",
  });
}
