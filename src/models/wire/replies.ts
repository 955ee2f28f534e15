/** The common part of all decoders: errors that end a reply, and calls whose input is JSON text. */
import type { PaiError } from "../../core/error.ts";
import type { Json, ModelEvent, StopReason } from "../../core/model.ts";
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { fields, parseJson } from "./fields.ts";
import { failure } from "./http-errors.ts";
import { never } from "./judge.ts";

/** The error of a refusal. `what` follows "the model refused"; `why`: the model's own words, "" for none. */
export function refused(what: string, why: string): PaiError {
  const said = why === "" ? "" : `: ${maskSecrets(why).slice(0, 300)}`;
  const hint = "word the task differently, or choose another model";
  return failure("reply_blocked", `the model refused ${what}${said}`, never, hint);
}

const again = "ask again, or choose another model";

export const unusable = (model: string, why: string): PaiError =>
  failure("reply_invalid", `the reply of ${model} cannot be used (${why})`, never, again);

/**
 * Collects the events of a reply, and judges at its end whether it is complete. `turn` keeps made-up call ids unique in a
 * conversation.
 */
export function createReplyTally(model: string, turn: number) {
  let events: ModelEvent[] = [];
  /** The last event, if it can still grow. */
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
    text(said: string): void {
      if (said === "") return;
      spoken = true;
      say("text", said);
    },
    thought(said: string): void {
      if (said !== "") say("thought", said);
    },
    /** `input` is JSON text, or the value itself. */
    call(id: string, name: string, input: unknown): void {
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
    /** Returns the events since the last call; text that arrived together is one event. */
    take(): readonly ModelEvent[] {
      const taken = events;
      events = [];
      last = null;
      return taken;
    },
    /** Whether the reply holds anything but thoughts. */
    hasSpoken: () => spoken || calls > 0,
    /** Throws PaiError for a reply that was cut, is empty, or holds an invalid call. */
    stop(finished: boolean, cut: boolean): StopReason {
      if (!finished && seen)
        throw failure("reply_cut", `the reply of ${model} ended before it was whole`, never, "ask again");
      if (garbled && !cut) throw unusable(model, "a call that is not JSON");
      if (calls === 0 && !spoken && !cut) throw failure("reply_empty", `${model} sent an empty reply`, never, again);
      if (cut) return "length";
      return calls > 0 ? "calls" : "end";
    },
  };
}

/** JSON text, such text in a JSON string, or the value; no object counts as an empty one. undefined: it is not JSON. */
function readInput(input: unknown): Json | undefined {
  if (typeof input !== "string") return fields(input) as Json;
  if (input.trim() === "") return {};
  const value = parseJson(input);
  return value === undefined ? undefined : readInput(value);
}

/** A name as every provider takes it back, which can do nothing to a terminal. */
const plainName = /^[\w-]{1,64}$/;

/** A call whose name is none is named `unknown`; the native form of its reply, which holds the other, is dropped. */
export function createCallNamer(): (event: ModelEvent) => ModelEvent {
  let renamed = false;
  return (event) => {
    if (event.type === "done") return renamed ? { ...event, native: null } : event;
    if (event.type !== "call" || plainName.test(event.call.name)) return event;
    renamed = true;
    return { type: "call", call: { ...event.call, name: "unknown" } };
  };
}

export interface Decoder {
  /** Takes the next chunk. Throws PaiError when the provider refuses to go on. */
  read(chunk: unknown): void;
  /** Returns the events of all chunks since the last call; text that arrived together is one event. */
  take(): readonly ModelEvent[];
  /** Whether the reply is whole: its closing event has arrived. */
  finished(): boolean;
  /** Returns the one `done`. Throws PaiError for a reply that is empty, or that the connection cut. */
  end(key: string | null): ModelEvent;
}
