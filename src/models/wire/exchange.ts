/** One request and its answer: with its own signal, a limit on silence, no redirects, only pai's headers. */
import type { PaiError } from "../../core/error.ts";
import type { ModelEvent } from "../../core/model.ts";
import { interruption } from "../stream.ts";
import { readReply } from "./chunks.ts";
import { type Endpoint, tlsOf, withQuery } from "./endpoint.ts";
import { readStart } from "./error-body.ts";
import { type AskedServer, failure, readFetchError, readHttpError, renderWait } from "./http-errors.ts";
import { never, onceSoon } from "./judge.ts";
import type { Decoder } from "./replies.ts";

export type SendRequest = (url: string, init: RequestInit) => Promise<Response>;

export interface Exchange {
  /** A fetch for an SDK or a bridge. Throws for answers other than 2xx. Uses only method and body of `init`. */
  readonly send: SendRequest;
  /** The events of the answer; those that arrived together come together. */
  read(response: Response, decoder: Decoder): AsyncGenerator<readonly ModelEvent[], void>;
  /** The error behind one of the SDK, which may only know that something went wrong; null: none. */
  failed(): PaiError | null;
  close(): void;
}

export interface ExchangeOptions {
  readonly asked: AskedServer;
  readonly agent: string;
  /** Sent beside those of the body. An SDK's own headers are never sent, whatever the environment says. */
  readonly headers: Readonly<Record<string, string>>;
  readonly endpoint: Endpoint;
  readonly signal: AbortSignal;
  /** Silence after which the connection counts as dead, in milliseconds. Without an event: after four times that. */
  readonly idleMs: number;
  /** Called once in each silence, with its milliseconds so far. */
  readonly onSilence: (ms: number) => void;
  readonly now: () => number;
}

/** How many times longer pai accepts bytes without an event: a model can take that long to write one call. */
const longerWordless = 4;
/** How long the connection may stay open after a whole reply: some servers then count tokens, some never close it. */
const lingerMs = 1000;
/** Silence is reported after this many milliseconds. */
const maxUntoldMs = 60_000;
/** Characters that are read of an error's body. */
const bodyLimit = 65_536;

/** Opens an exchange. Its limit on silence runs at once, so it must be closed. */
export function openExchange(options: ExchangeOptions): Exchange {
  const { asked, agent, headers, endpoint, signal, idleMs, onSilence, now } = options;
  const connection = new AbortController();
  let error: PaiError | null = null;
  const tellMs = Math.min(maxUntoldMs, idleMs / 4);
  const telling = setTimeout(() => onSilence(tellMs), tellMs);
  let silent = setTimeout(() => giveUp(silence(asked, idleMs)), idleMs);
  const wordless = setTimeout(() => giveUp(stall(asked, idleMs * longerWordless)), idleMs * longerWordless);

  const giveUp = (reason: PaiError) => {
    error ??= reason;
    close();
  };
  const onAbort = () => giveUp(interruption(signal));
  const heard = () => {
    if (connection.signal.aborted) return;
    silent.refresh();
    telling.refresh();
  };
  function close(): void {
    clearTimeout(silent);
    clearTimeout(wordless);
    clearTimeout(telling);
    signal.removeEventListener("abort", onAbort);
    connection.abort();
  }
  function note(thrown: unknown): PaiError {
    error ??= readFetchError(asked, thrown);
    return error;
  }

  async function request(url: string, { method, body }: RequestInit): Promise<Response> {
    const response = await fetch(withQuery(url, endpoint), {
      ...(method === undefined ? {} : { method }),
      ...(body === undefined || body === null ? {} : { body }),
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream, application/json",
        "user-agent": agent,
        ...headers,
      },
      signal: connection.signal,
      redirect: "manual",
      timeout: false,
      proxy: asked.proxy,
      ...tlsOf(endpoint),
    });
    heard();
    if (response.status >= 300 && response.status < 400) throw redirected(asked, response);
    if (response.ok) return response;
    const { status, headers: answered } = response;
    throw readHttpError(asked, { status, headers: answered, body: await readStart(response, bodyLimit), now: now() });
  }

  async function* read(response: Response, decoder: Decoder): AsyncGenerator<readonly ModelEvent[], void> {
    const heardPiece = () => {
      heard();
      if (!decoder.finished()) return;
      clearTimeout(silent);
      silent = setTimeout(close, Math.min(idleMs, lingerMs));
    };
    for await (const events of readReply(response, decoder, { asked, heard: heardPiece, note, now })) {
      if (!connection.signal.aborted) wordless.refresh();
      yield events;
    }
  }

  signal.addEventListener("abort", onAbort, { once: true });
  return {
    send: (url, init) =>
      request(url, init).catch((thrown) => {
        throw note(thrown);
      }),
    read,
    failed: () => error,
    close,
  };
}

function silence({ provider, address }: AskedServer, idleMs: number): PaiError {
  return failure("network", `${provider} at ${address} sent nothing for ${renderWait(idleMs / 1000)}`, onceSoon, {
    hint: "ask again, or wait longer: pai config set limits.silence 15m",
  });
}

function stall({ provider, address }: AskedServer, ms: number): PaiError {
  const what = `${provider} at ${address} holds the connection, but has sent no part of the reply for ${renderWait(ms / 1000)}`;
  return failure("network", what, never, { hint: "ask again, or choose another model" });
}

function redirected({ provider, address }: AskedServer, response: Response): PaiError {
  const target = URL.parse(response.headers.get("location") ?? "", response.url || address);
  const where = target === null ? "elsewhere" : `to ${target.origin}`;
  return failure("redirected", `${provider} at ${address} redirects ${where}; a key is never sent on`, never, {
    hint: "set the base URL to the address that answers itself",
  });
}
