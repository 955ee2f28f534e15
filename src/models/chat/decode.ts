/** Decodes replies of Chat Completions and of Ollama's own API, tolerant of the variants that servers send. */
import type { ModelRequest, Usage } from "../../core/model.ts";
import { createThoughtSplitter, type Split } from "../../core/script/thought.ts";
import { closing } from "../wire/exchange.ts";
import { count, fields, listIn, textIn, type WireFields } from "../wire/fields.ts";
import { turnOf } from "../wire/open-bridge.ts";
import { createReplyTally, type Decoder, refused } from "../wire/replies.ts";
import { createReasoningKeeper } from "./reasoning.ts";
import { createTextCallReader } from "./text-calls.ts";

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
