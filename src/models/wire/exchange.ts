/** One request and its answer: own signal, a limit on silence, no redirects, only our headers, whole errors. */
import type { PaiError } from "../../core/error.ts";
import type { ModelEvent } from "../../core/model.ts";
import { interruption } from "../stream.ts";
import { readReply } from "./chunks.ts";
import type { Decoder } from "./decoder.ts";
import { type Endpoint, tlsOf } from "./endpoint.ts";
import { type Asked, failure, never, onceSoon, readFetchError, readHttpError, renderWait } from "./http-errors.ts";
import { readStart } from "./read-start.ts";

export type SendRequest = (url: string, init: RequestInit) => Promise<Response>;

/** The one request of one call. */
export interface Exchange {
  /** A fetch for an SDK, or for a bridge itself. Answers other than 2xx throw; of `init` only method and body are used. */
  readonly send: SendRequest;
  /** The events of the answer, those that arrived together together. */
  read(response: Response, decoder: Decoder): AsyncGenerator<readonly ModelEvent[], void>;
  /** What really went wrong, when the SDK only knows that something did. */
  failed(): PaiError | null;
  /** Ends the connection and every timer. */
  close(): void;
}

export interface ExchangeOptions {
  readonly asked: Asked;
  /** Beside those of the body: an SDK's own headers never leave, whatever the environment told it. */
  readonly headers: Readonly<Record<string, string>>;
  readonly endpoint: Endpoint;
  readonly signal: AbortSignal;
  /** Silence after which the connection counts as dead, in milliseconds; signs of life without a reply: four times that. */
  readonly idleMs: number;
  /** Told again and again while nothing comes: how many milliseconds it has been. */
  readonly onSilence: (ms: number) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * How many times longer signs of life without a reply are accepted than silence: a model can take that long to write
 * one call.
 */
const longerWordless = 4;
/** How long a connection may stay open after a reply that is whole: some servers count tokens then, some never close it. */
const lingerMs = 1000;
/** Silence is reported after this many milliseconds, and again after each further interval. */
const maxUntoldMs = 60_000;
/** Error bodies are read up to here. */
const bodyLimit = 65_536;

/** The limit on silence runs from now on, so the exchange must be closed. */
export function openExchange(options: ExchangeOptions): Exchange {
  const { asked, headers, endpoint, signal, idleMs, onSilence, now } = options;
  const connection = new AbortController();
  let error: PaiError | null = null;
  const tellMs = Math.min(maxUntoldMs, idleMs / 4);
  let silentMs = 0;
  const telling = setInterval(() => {
    silentMs += tellMs;
    if (silentMs < idleMs) onSilence(silentMs);
  }, tellMs);
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
    silentMs = 0;
  };
  function close(): void {
    clearTimeout(silent);
    clearTimeout(wordless);
    clearInterval(telling);
    signal.removeEventListener("abort", onAbort);
    connection.abort();
  }
  /** Keeps what went wrong, for `failed`. */
  function note(thrown: unknown): PaiError {
    error ??= readFetchError(asked, thrown);
    return error;
  }

  async function request(url: string, { method, body }: RequestInit): Promise<Response> {
    const response = await fetch(url, {
      ...(method === undefined ? {} : { method }),
      ...(body === undefined || body === null ? {} : { body }),
      headers: { "content-type": "application/json", accept: "text/event-stream, application/json", ...headers },
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

function silence({ provider, address }: Asked, idleMs: number): PaiError {
  return failure("network", `${provider} at ${address} sent nothing for ${renderWait(idleMs / 1000)}`, onceSoon, {
    hint: "ask again, or wait longer: pai config put limits.silence 15m",
  });
}

function stall({ provider, address }: Asked, ms: number): PaiError {
  const what = `${provider} at ${address} is there, but sent nothing of a reply for ${renderWait(ms / 1000)}`;
  return failure("network", what, never, { hint: "ask again, or choose another model" });
}

function redirected({ provider, address }: Asked, response: Response): PaiError {
  const target = URL.parse(response.headers.get("location") ?? "", response.url || address);
  const where = target === null ? "elsewhere" : `to ${target.origin}`;
  return failure("redirected", `${provider} at ${address} redirects ${where}; a key is never sent on`, never, {
    hint: "set the base URL to the address that answers itself",
  });
}
