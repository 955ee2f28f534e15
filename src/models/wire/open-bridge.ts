/** Opens a bridge, made of an encoder, a way to send and a decoder for the answer; defines the order of a call. */
import { PaiError, toPaiError } from "../../core/error.ts";
import { mapTexts } from "../../core/map-texts.ts";
import type { Fields as Body, ModelEvent, ModelRequest } from "../../core/model.ts";
import type { Provider } from "../../core/providers.ts";
import type { Notice } from "../../core/question.ts";
import type { Concessions } from "../concessions.ts";
import { joinFields, type openEffort } from "../effort.ts";
import type { Key } from "../keys-in-turn.ts";
import { type Stream, throwIfInterrupted, tryUntilBegun } from "../stream.ts";
import type { Endpoint } from "./endpoint.ts";
import { type Exchange, openExchange } from "./exchange.ts";
import { type AskedServer, renderWait } from "./http-errors.ts";
import { createCallNamer, type Decoder } from "./replies.ts";

export interface BridgeOptions {
  readonly provider: Provider;
  readonly model: string;
  /** null: the request carries none. */
  readonly key: Key | null;
  readonly endpoint: Endpoint;
  readonly agent: string;
  /** Silence after which the connection counts as dead, in milliseconds. */
  readonly idleMs: number;
  readonly notify: (notice: Notice) => void;
  readonly concessions: Concessions;
  readonly effort: ReturnType<typeof openEffort>;
  readonly now: () => number;
}

export interface Bridge {
  readonly encode: (request: ModelRequest) => Body;
  /** The server enforces a schema without making it a part of the prompt. */
  readonly takesSchemaApart?: boolean;
  readonly send: (body: Body, exchange: Exchange) => Promise<Response>;
  readonly decode: (request: ModelRequest) => Decoder;
}

export const postTo =
  (url: string): Bridge["send"] =>
  (body, exchange) =>
    exchange.send(url, { method: "POST", body: JSON.stringify(body) });

/** How often one call is made again without something that its server refused. */
const maxConcessions = 8;

/** Failures that do not matter once the reply is whole. */
const lateCodes: ReadonlySet<string> = new Set(["network", "reply_cut"]);

/** A text that was cut may end in half a character, which some providers refuse: U+FFFD takes its place. */
function makeWellFormed(request: ModelRequest): ModelRequest {
  const mend = (text: string) => (text.isWellFormed() ? text : text.toWellFormed());
  return { ...request, system: mend(request.system), messages: mapTexts(request.messages, mend) };
}

/** Makes one attempt for each call, and another for each concession; `withRetry` retries. Throws `key_invalid` for a key that no header can hold. */
export function openBridge(
  { encode: encodeTask, takesSchemaApart = false, send, decode }: Bridge,
  { provider, model, key, endpoint, agent, idleMs, notify, concessions, effort, now }: BridgeOptions,
): Stream {
  if (key !== null && !/^[\x21-\x7e]+$/.test(key.key)) {
    throw new PaiError("key_invalid", `the key "${key.id}" contains characters that are not valid in a key`, {
      hint: "set it again with: pai key set",
    });
  }
  const asked: AskedServer = { provider: provider.id, model, key, address: endpoint.address, proxy: endpoint.proxy };
  const encode = (request: ModelRequest) => joinFields(encodeTask(request), effort.fields(request));
  const headers = { "user-agent": agent, ...provider.headers(key?.key ?? null) };

  const onSilence = (ms: number): void => {
    const text = `${provider.id} has sent nothing for ${renderWait(ms / 1000)}; after ${renderWait(idleMs / 1000)} it counts as lost`;
    notify({ level: "info", code: "silence", text });
  };

  async function* converse(body: Body, decoder: Decoder, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const exchange = openExchange({ asked, headers, endpoint, signal, idleMs, onSilence, now });
    try {
      for await (const events of exchange.read(await send(body, exchange), decoder)) {
        throwIfInterrupted(signal);
        for (const event of events) yield event;
      }
      throwIfInterrupted(signal);
    } catch (thrown) {
      throw thrown instanceof PaiError ? thrown : (exchange.failed() ?? toPaiError(thrown));
    } finally {
      exchange.close();
    }
  }

  async function* attempt(request: ModelRequest, body: Body, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    throwIfInterrupted(signal);
    const decoder = decode(request);
    const named = createCallNamer();
    try {
      for await (const event of converse(body, decoder, signal)) yield named(event);
    } catch (thrown) {
      if (!decoder.finished() || !(thrown instanceof PaiError) || !lateCodes.has(thrown.code)) throw thrown;
    }
    yield named(decoder.end(key?.id ?? null));
  }

  return async function* (given, signal) {
    const format = given.format?.isOptional === true && !takesSchemaApart ? null : given.format;
    const request = { ...makeWellFormed(given), format, effort: given.effort ?? provider.effort ?? null };
    effort.tell(request);
    let left = maxConcessions;
    let body: Body = {};
    yield* tryUntilBegun((failed) => {
      if (failed !== null && (left === 0 || !concessions.learn(failed, body, request, encode))) throw failed;
      left -= 1;
      body = concessions.encode(request, encode);
      return attempt(request, body, signal);
    });
  };
}

/** The number of the reply in its conversation, from 1, so that made-up call ids stay unique. */
export const turnOf = ({ messages }: ModelRequest): number =>
  messages.filter(({ role }) => role === "assistant").length + 1;
