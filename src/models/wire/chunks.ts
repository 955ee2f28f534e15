/** Reads the bytes of an answer into events, however a provider or a gateway wrapped its chunks. */
import { type PaiError, toPaiError } from "../../core/error.ts";
import type { ModelEvent } from "../../core/model.ts";
import { fields, parseJson, textIn } from "./fields.ts";
import { type AskedServer, failure, readHttpError } from "./http-errors.ts";
import { never, onceAtOnce, onceSoon } from "./judge.ts";
import type { Decoder } from "./replies.ts";
import { createLineReader, createSseReader } from "./sse.ts";

/** The chunk for `[DONE]`, which closes some streams. */
export const closing: unknown = Object.freeze({ closing: true });

export interface ChunkOptions {
  readonly asked: AskedServer;
  readonly heard: () => void;
  /** Turns what a broken connection throws into a PaiError. */
  readonly note: (thrown: unknown) => PaiError;
  readonly now: () => number;
}

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

/** Events in order, those of one piece together, also before an error. Throws PaiError. */
export async function* readReply(
  response: Response,
  decoder: Pick<Decoder, "read" | "take">,
  options: ChunkOptions,
): AsyncGenerator<readonly ModelEvent[], void> {
  const type = response.headers.get("content-type") ?? "";
  const reader = type.includes("ndjson") ? createLineReader() : createSseReader();
  const characters = new TextDecoder();
  const reading = { response, decoder, options };
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

interface Reading {
  readonly response: Response;
  readonly decoder: Pick<Decoder, "read" | "take">;
  readonly options: ChunkOptions;
  readonly wrong: (asked: AskedServer, response: Response) => PaiError;
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
  else if (Array.isArray(value)) readChunks(value, reading);
  else readChunk(value, reading);
}

/** Reads data that is not one JSON value: nothing, `[DONE]`, or several values that some servers send in one event. */
function readOdd(data: string, reading: Reading): void {
  if (data.trim() === "") return;
  const lines = data.split("\n");
  if (data.trim() === "[DONE]") reading.decoder.read(closing);
  else if (lines.length === 1) throw reading.wrong(reading.options.asked, reading.response);
  else for (const line of lines) readData(line, reading);
}

function readChunks(chunks: readonly unknown[], reading: Reading): void {
  for (const chunk of chunks) readChunk(chunk, reading);
}

function readChunk(chunk: unknown, { decoder, response, options }: Reading): void {
  const { error, type, response: last } = fields(chunk);
  if (type === "response.failed") throw readStreamError(last, response, options);
  if (type === "error" || (error ?? null) !== null) throw readStreamError(chunk, response, options);
  decoder.read(chunk);
}

/** `{"error":{…}}`, `{"error":"text"}`, and `{"type":"error","code":…,"message":…}`. */
function readStreamError(failed: unknown, { headers }: Response, { asked, now }: ChunkOptions): PaiError {
  const outer = fields(failed);
  const error = typeof outer["error"] === "string" ? { message: outer["error"] } : fields(outer["error"] ?? outer);
  const names = [error["status"], error["code"], error["type"]];
  const named = names.map((name) => statusOf(textIn(name))).find((status) => status !== undefined);
  const status = names.find((name) => typeof name === "number" && name >= 400) ?? named ?? 503;
  return readHttpError(asked, { status: Number(status), headers, body: JSON.stringify({ error }), now: now() });
}

function cut({ model }: AskedServer): PaiError {
  return failure("reply_cut", `the reply of ${model} ended before it was whole`, onceAtOnce, { hint: "ask again" });
}

function broken({ provider }: AskedServer): PaiError {
  return failure("reply_invalid", `${provider} sent a reply that is not JSON`, onceAtOnce, { hint: "ask again" });
}

function endless({ provider }: AskedServer): PaiError {
  return failure("reply_invalid", `${provider} sent a reply without an end`, never, { hint: "check the base URL" });
}

function noStream({ provider, address }: AskedServer, response: Response): PaiError {
  const type = response.headers.get("content-type") ?? "text of no known kind";
  return failure("network", `${address} is not ${provider}: it answered with ${type.slice(0, 80)}`, onceSoon, {
    hint: "check the base URL, and whether the network wants a login",
  });
}
