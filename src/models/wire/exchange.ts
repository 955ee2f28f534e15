/** One request and its answer, read into events: with a limit on silence, no redirects, only pai's headers. */

import { type PaiError, toPaiError } from "../../core/error.ts";
import { createLineReader, createSseReader } from "../../core/event-stream.ts";
import type { ModelEvent } from "../../core/model.ts";
import { interruption } from "../stream.ts";
import { type Endpoint, fetchFrom, readStart } from "./endpoint.ts";
import { fields, parseJson, textIn } from "./fields.ts";
import { type AskedServer, failure, readFetchError, readHttpError, renderWait } from "./http-errors.ts";
import { never, onceAtOnce, onceSoon } from "./judge.ts";
import type { Decoder } from "./replies.ts";

export type Exchange = ReturnType<typeof openExchange>;

/** How many times longer pai accepts bytes without an event: a model can take that long to write one call. */
const longerWordless = 4;
/** How long the connection may stay open after a whole reply: some servers then count tokens, some never close it. */
const lingerMs = 1000;
/** Silence is reported after this many milliseconds. */
const maxUntoldMs = 60_000;
const bodyLimit = 65_536;

/** Opens an exchange. Its limit on silence runs at once, so it must be closed. */
export function openExchange(options: {
  readonly asked: AskedServer;
  /** All that are sent beside those of the body, whatever an SDK or the environment says. */
  readonly headers: Readonly<Record<string, string>>;
  readonly endpoint: Endpoint;
  readonly signal: AbortSignal;
  /** Silence after which the connection counts as dead, in milliseconds. Without an event: after four times that. */
  readonly idleMs: number;
  /** Called once in each silence, with its milliseconds so far. */
  readonly onSilence: (ms: number) => void;
  readonly now: () => number;
}) {
  const { asked, headers, endpoint, signal, idleMs, onSilence, now } = options;
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
    const response = await fetchFrom(endpoint, url, {
      ...(method === undefined ? {} : { method }),
      ...(body === undefined || body === null ? {} : { body }),
      headers: { "content-type": "application/json", accept: "text/event-stream, application/json", ...headers },
      signal: connection.signal,
      timeout: false,
    });
    heard();
    if (response.status >= 300 && response.status < 400) throw redirected(asked, response);
    if (response.ok) return response;
    const { status, headers: answered } = response;
    throw readHttpError(asked, { status, headers: answered, body: await readStart(response, bodyLimit), now: now() });
  }

  signal.addEventListener("abort", onAbort, { once: true });
  return {
    /** A fetch for an SDK or a bridge. Throws for answers other than 2xx. Uses only method and body of `init`. */
    send: (url: string, init: RequestInit): Promise<Response> =>
      request(url, init).catch((thrown) => {
        throw note(thrown);
      }),
    /** The events of the answer; those that arrived together come together. */
    async *read(response: Response, decoder: Decoder): AsyncGenerator<readonly ModelEvent[], void> {
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
    },
    /** The error behind one of the SDK, which may only know that something went wrong; null: none. */
    failed: () => error,
    close,
  };
}

/** The chunk for `[DONE]`, which closes some streams. */
export const closing: unknown = Object.freeze({ closing: true });

/** Characters of one event. Providers send small events; a longer one would only fill the memory. */
const maxHeld = 2 ** 24;
/** Bytes of a whole answer with its wrapping, three times what the longest reply takes. */
const maxRead = 2 ** 27;

/** HTTP statuses for names of errors in a stream, which have none; any other name means that the provider is down. */
const statuses: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  context_length_exceeded: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
};

const statusOf = (name: string): number | undefined =>
  statuses[name] ?? (/^(invalid|unsupported)_/.test(name) ? 400 : undefined);

interface Reading {
  readonly asked: AskedServer;
  readonly now: () => number;
  readonly response: Response;
  readonly decoder: Pick<Decoder, "read" | "take">;
  /** The error for data that is no JSON. */
  readonly wrong: (asked: AskedServer, response: Response) => PaiError;
}

/**
 * Events in order, those of one piece together, also before an error, however a provider or a gateway wrapped its chunks.
 * `note` turns what a broken connection throws into a PaiError. Throws PaiError.
 */
export async function* readReply(
  response: Response,
  decoder: Reading["decoder"],
  options: Pick<Reading, "asked" | "now"> & { heard: () => void; note: (thrown: unknown) => PaiError },
): AsyncGenerator<readonly ModelEvent[], void> {
  const type = response.headers.get("content-type") ?? "";
  const reader = type.includes("ndjson") ? createLineReader() : createSseReader();
  const characters = new TextDecoder();
  const reading = { response, decoder, ...options };
  let seen = false;
  let read = 0;
  try {
    for await (const bytes of response.body ?? []) {
      const all = reader.push(characters.decode(bytes, { stream: true }));
      seen ||= all.length > 0;
      read += bytes.length;
      if (reader.held() > maxHeld || read > maxRead) throw endless(options.asked);
      yield* readAll(all, { ...reading, wrong: broken });
      options.heard();
    }
    const tail = [...reader.push(characters.decode()), ...reader.end()];
    yield* readAll(tail, { ...reading, wrong: cut });
    const stray = seen || tail.length > 0 ? [] : [reader.stray()];
    yield* readAll(stray, { ...reading, wrong: type.includes("event-stream") ? cut : noStream });
  } catch (thrown) {
    throw options.note(thrown);
  }
}

function* readAll(all: readonly string[], reading: Reading): Generator<readonly ModelEvent[]> {
  let failed: PaiError | null = null;
  try {
    for (const data of all) readData(data, reading);
  } catch (thrown) {
    failed = toPaiError(thrown);
  }
  const events = reading.decoder.take();
  if (events.length > 0) yield events;
  if (failed !== null) throw failed;
}

function readData(data: string, reading: Reading): void {
  const value = parseJson(data);
  if (value === undefined) readOdd(data, reading);
  else for (const chunk of Array.isArray(value) ? value : [value]) readChunk(chunk, reading);
}

/** Reads data that is not one JSON value: nothing, `[DONE]`, or several values that some servers send in one event. */
function readOdd(data: string, reading: Reading): void {
  if (data.trim() === "") return;
  const lines = data.split("\n");
  if (data.trim() === "[DONE]") reading.decoder.read(closing);
  else if (lines.length === 1) throw reading.wrong(reading.asked, reading.response);
  else for (const line of lines) readData(line, reading);
}

function readChunk(chunk: unknown, reading: Reading): void {
  const { error, type, response: last } = fields(chunk);
  if (type === "response.failed") throw readStreamError(last, reading);
  if (type === "error" || (error ?? null) !== null) throw readStreamError(chunk, reading);
  reading.decoder.read(chunk);
}

/** `{"error":{…}}`, `{"error":"text"}`, and `{"type":"error","code":…,"message":…}`. */
function readStreamError(failed: unknown, { response: { headers }, asked, now }: Reading): PaiError {
  const outer = fields(failed);
  const error = typeof outer["error"] === "string" ? { message: outer["error"] } : fields(outer["error"] ?? outer);
  const names = [error["status"], error["code"], error["type"]];
  const named = names.map((name) => statusOf(textIn(name))).find((status) => status !== undefined);
  const status = names.find((name) => typeof name === "number" && name >= 400) ?? named ?? 503;
  return readHttpError(asked, { status: Number(status), headers, body: JSON.stringify({ error }), now: now() });
}

const cut = ({ model }: AskedServer): PaiError =>
  failure("reply_cut", `the reply of ${model} ended before it was whole`, onceAtOnce, "ask again");

const broken = ({ provider }: AskedServer): PaiError =>
  failure("reply_invalid", `${provider} sent a reply that is not JSON`, onceAtOnce, "ask again");

const endless = ({ provider }: AskedServer): PaiError =>
  failure("reply_invalid", `${provider} sent a reply without an end`, never, "check the base URL");

function noStream({ provider, address }: AskedServer, response: Response): PaiError {
  const type = response.headers.get("content-type") ?? "text of no known kind";
  const what = `${address} is not ${provider}: it answered with ${type.slice(0, 80)}`;
  return failure("network", what, onceSoon, "check the base URL, and whether the network wants a login");
}

function silence({ provider, address }: AskedServer, idleMs: number): PaiError {
  const what = `${provider} at ${address} sent nothing for ${renderWait(idleMs / 1000)}`;
  return failure("network", what, onceSoon, "ask again, or wait longer: pai config set limits.silence 15m");
}

function stall({ provider, address }: AskedServer, ms: number): PaiError {
  const what = `${provider} at ${address} holds the connection, but has sent no part of the reply for ${renderWait(ms / 1000)}`;
  return failure("network", what, never, "ask again, or choose another model");
}

function redirected({ provider, address }: AskedServer, response: Response): PaiError {
  const target = URL.parse(response.headers.get("location") ?? "", response.url || address);
  const where = target === null ? "elsewhere" : `to ${target.origin}`;
  const what = `${provider} at ${address} redirects ${where}; a key is never sent on`;
  return failure("redirected", what, never, "set the base URL to the address that answers itself");
}
