/** What is the same in every provider's replies: the errors they end in, and calls whose input is JSON text. */
import type { PaiError } from "../../core/error.ts";
import type { Json, ModelEvent, StopReason } from "../../core/model.ts";
import { fields, parseJson } from "./fields.ts";
import { failure, never } from "./http-errors.ts";

/** `what` follows "the model refused"; `why` is its own word, "" for none. */
export function refused(what: string, why: string): PaiError {
  const said = why === "" ? "" : `: ${why.slice(0, 300)}`;
  return failure("reply_blocked", `the model refused ${what}${said}`, never, {
    hint: "word the task differently, or choose another model",
  });
}

/** For a reply that came whole and means nothing here. */
export function unusable(model: string, why: string): PaiError {
  return failure("reply_invalid", `the reply of ${model} cannot be used (${why})`, never, {
    hint: "ask again, or choose another model",
  });
}

/** Collects a reply: what has arrived, the events not yet passed on, and whether it is complete. */
export interface Tally {
  text(said: string): void;
  thought(said: string): void;
  /** `input` is JSON text, or the value itself. */
  call(id: string, name: string, input: unknown): void;
  /** Events since the last time; text that arrived together is one. */
  take(): readonly ModelEvent[];
  /** Throws PaiError for a reply that was cut, is empty, or holds an invalid call. */
  stop(finished: boolean, cut: boolean): StopReason;
}

/** `turn` keeps made-up call ids unique in a conversation. */
export function createTally(model: string, turn: number): Tally {
  let events: ModelEvent[] = [];
  /** The last of the events, while it can grow. */
  let last: { readonly type: "text" | "thought"; text: string } | null = null;
  let calls = 0;
  let seen = false;
  let spoken = false;
  let garbled = false;

  function say(type: "text" | "thought", said: string): void {
    seen = true;
    if (last?.type === type) last.text += said;
    else {
      last = { type, text: said };
      events.push(last);
    }
  }

  return {
    text(said) {
      if (said === "") return;
      spoken = true;
      say("text", said);
    },
    thought(said) {
      if (said !== "") say("thought", said);
    },
    call(id, name, input) {
      seen = true;
      const value = readInput(input);
      if (name === "" || value === undefined) {
        garbled = true;
        return;
      }
      calls += 1;
      last = null;
      events.push({ type: "call", call: { id: id || `call-${turn}-${calls}`, name, input: value } });
    },
    take() {
      const told = events;
      events = [];
      last = null;
      return told;
    },
    stop(finished, cut) {
      if (!finished && seen) {
        throw failure("reply_cut", `the reply of ${model} ended before it was whole`, never, { hint: "ask again" });
      }
      if (garbled && !cut) throw unusable(model, "a call that is not JSON");
      if (calls === 0 && !spoken && !cut) {
        throw failure("reply_empty", `${model} sent an empty reply`, never, {
          hint: "ask again, or choose another model",
        });
      }
      if (cut) return "length";
      return calls > 0 ? "calls" : "end";
    },
  };
}

/**
 * Some servers send the input as JSON text, some as text of that text, some as the value. What is not an object counts as an
 * empty one: providers take nothing else back.
 */
function readInput(input: unknown): Json | undefined {
  if (typeof input !== "string") return fields(input) as Json;
  if (input.trim() === "") return {};
  const value = parseJson(input);
  return value === undefined ? undefined : readInput(value);
}
