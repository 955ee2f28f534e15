/** What every bridge is made of: a way to ask, a decoder for what comes back, and the order of a call around them. */
import { PaiError, toPaiError } from "../core/error.ts";
import type { ModelEvent, ModelRequest } from "../core/model.ts";
import type { Endpoint } from "./endpoint.ts";
import { type Exchange, openExchange } from "./exchange.ts";
import type { Asked } from "./http-errors.ts";
import { throwIfInterrupted } from "./interruption.ts";
import type { Key } from "./keys-in-turn.ts";
import type { Stream } from "./stream.ts";

export interface Decoder {
  /** Events of one chunk. Throws PaiError when the provider refuses to go on. */
  read(chunk: unknown): readonly ModelEvent[];
  /** True once the reply is whole: its closing event has arrived. */
  finished(): boolean;
  /** The one `done`. Throws PaiError for a reply that is empty or was cut by the connection. */
  end(key: string | null): ModelEvent;
}

export interface BridgeOptions {
  /** Bare name, as in `gemini-2.5-flash-lite`. */
  readonly model: string;
  /** null: the request carries none. */
  readonly key: Key | null;
  readonly endpoint: Endpoint;
  /** Silence after which the connection counts as dead, in milliseconds. */
  readonly idleMs: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface Bridge {
  readonly provider: string;
  /** All headers of a request but those of its body, the key's among them. */
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  /** Sends the request; the chunks of the answer, those that arrived together together. */
  readonly ask: (request: ModelRequest, exchange: Exchange) => Promise<AsyncIterable<readonly unknown[]>>;
  readonly decode: (request: ModelRequest) => Decoder;
}

/** What may still go wrong when the reply is whole: it does not matter then. */
const lateCodes: ReadonlySet<string> = new Set(["network", "reply_cut"]);

/** One attempt per call; asking again is the business of `retry.ts`. Throws `key_invalid` for a key no header can carry. */
export function openBridge(
  { provider, headers, ask, decode }: Bridge,
  { model, key, endpoint, idleMs, now }: BridgeOptions,
): Stream {
  if (key !== null && !/^[\x21-\x7e]+$/.test(key.key)) {
    throw new PaiError("key_invalid", `the key "${key.id}" holds characters no key has`, {
      hint: "set it again with: pai config set",
    });
  }
  const asked: Asked = { provider, model, key, address: endpoint.address, proxy: endpoint.proxy };
  const carried = key === null ? {} : headers(key.key);

  async function* converse(request: ModelRequest, decoder: Decoder, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const exchange = openExchange({ asked, headers: carried, tls: endpoint.tls, signal, idleMs, now });
    try {
      for await (const chunks of await ask(request, exchange)) {
        throwIfInterrupted(signal);
        const { events, failed } = decodeAll(chunks, decoder);
        yield* events;
        if (failed !== null) throw failed;
      }
      throwIfInterrupted(signal);
    } catch (thrown) {
      throw thrown instanceof PaiError ? thrown : (exchange.failed() ?? toPaiError(thrown));
    } finally {
      exchange.close();
    }
  }

  return async function* (request, signal) {
    throwIfInterrupted(signal);
    const decoder = decode(request);
    try {
      yield* converse(request, decoder, signal);
    } catch (thrown) {
      if (!decoder.finished() || !(thrown instanceof PaiError) || !lateCodes.has(thrown.code)) throw thrown;
    }
    yield decoder.end(key?.id ?? null);
  };
}

/** The events of chunks that arrived together, up to the one that failed. */
function decodeAll(chunks: readonly unknown[], decoder: Decoder) {
  const events: ModelEvent[] = [];
  try {
    for (const chunk of chunks) for (const event of decoder.read(chunk)) append(events, event);
    return { events, failed: null };
  } catch (failed) {
    return { events, failed };
  }
}

/** Text that arrived together is one event. */
function append(events: ModelEvent[], event: ModelEvent): void {
  const last = events.at(-1);
  if (last !== undefined && "text" in last && "text" in event && last.type === event.type) {
    events[events.length - 1] = { type: last.type, text: last.text + event.text };
  } else events.push(event);
}

/** Replies so far, and this one: call ids made up from it stay unique in a conversation. */
export function turnOf({ messages }: ModelRequest): number {
  return messages.filter(({ role }) => role === "assistant").length + 1;
}
