/** The bytes of an answer as its chunks, however a provider or a gateway wrapped them. */
import type { PaiError } from "../core/error.ts";
import { fields, list, parseJson, text } from "./fields.ts";
import { type Asked, failure, onceAtOnce, onceSoon, readHttpError } from "./http-errors.ts";
import { createLineReader, createSseReader } from "./sse.ts";

/** Server-sent events, or one JSON value a line. */
export type Framing = "events" | "lines";

/** What stands for the `[DONE]` that closes some streams. */
export const closing: unknown = Object.freeze({ closing: true });

export interface ChunkOptions {
  readonly asked: Asked;
  /** Called for every piece that arrives, also for one that is only a sign of life. */
  readonly heard: () => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Absent: server-sent events. */
  readonly framing?: Framing | undefined;
}

/** Names of errors that come without a status of their own; any other means the provider is down. */
const statuses: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  invalid_request_error: 400,
  invalid_prompt: 400,
  context_length_exceeded: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
};

/**
 * Chunks in order, all of one piece of the wire together. Throws PaiError for an `error` in the middle, for one that is
 * no JSON, for an answer that is no stream at all; a connection that breaks throws what the runtime throws.
 */
export async function* readChunks(response: Response, options: ChunkOptions): AsyncGenerator<readonly unknown[], void> {
  const reader = options.framing === "lines" ? createLineReader() : createSseReader();
  const decoder = new TextDecoder();
  let seen = false;
  for await (const bytes of response.body ?? []) {
    options.heard();
    const all = reader.push(decoder.decode(bytes, { stream: true }));
    seen ||= all.length > 0;
    yield* readAll(all, response, { ...options, wrong: broken });
  }
  const tail = [...reader.push(decoder.decode()), ...reader.end()];
  yield* readAll(tail, response, { ...options, wrong: cut });
  if (!seen && tail.length === 0) yield readPlain(reader.stray(), response, options);
}

/** What came before a broken one is not lost with it. */
function* readAll(all: readonly string[], response: Response, options: DataOptions): Generator<readonly unknown[]> {
  const chunks: unknown[] = [];
  let failed: unknown = null;
  try {
    for (const data of all) readData(data, response, options, chunks);
  } catch (thrown) {
    failed = thrown;
  }
  if (chunks.length > 0) yield chunks;
  if (failed !== null) throw failed;
}

/** `wrong` says what it means when the data is no JSON. */
type DataOptions = ChunkOptions & { readonly wrong: (asked: Asked) => PaiError };

function readData(data: string, response: Response, options: DataOptions, into: unknown[]): void {
  if (data.trim() === "") return;
  if (data.trim() === "[DONE]") {
    into.push(closing);
    return;
  }
  const value = parseJson(data);
  const lines = value === undefined ? data.split("\n") : [];
  if (value !== undefined) check(value, response, options, into);
  else if (lines.length === 1) throw options.wrong(options.asked);
  for (const line of lines) readData(line, response, options, into);
}

/** A server that knows no event streams sends the whole answer as JSON; a login page sends HTML. */
function readPlain(body: string, response: Response, options: ChunkOptions): readonly unknown[] {
  if (body.trim() === "") return [];
  const value = parseJson(body);
  const promised = /event-stream/.test(response.headers.get("content-type") ?? "");
  if (value === undefined) throw promised ? cut(options.asked) : noStream(options.asked, response);
  const chunks: unknown[] = [];
  check(value, response, options, chunks);
  return chunks;
}

function check(value: unknown, response: Response, options: ChunkOptions, into: unknown[]): void {
  for (const chunk of Array.isArray(value) ? list(value) : [value]) {
    const { error, type } = fields(chunk);
    if (type === "error" || (error ?? null) !== null) throw readStreamError(chunk, response, options);
    into.push(chunk);
  }
}

/** `{"error":{…}}`, `{"error":"text"}`, and `{"type":"error","code":…,"message":…}`. */
function readStreamError(chunk: unknown, { headers }: Response, { asked, now }: ChunkOptions): PaiError {
  const outer = fields(chunk);
  const error = typeof outer["error"] === "string" ? { message: outer["error"] } : fields(outer["error"] ?? outer);
  const names = [error["status"], error["code"], error["type"]];
  const named = names.map((name) => statuses[text(name)]).find((status) => status !== undefined);
  const status = names.find((name) => typeof name === "number" && name >= 400) ?? named ?? 503;
  return readHttpError(asked, { status: Number(status), headers, body: JSON.stringify({ error }), now: now() });
}

function cut({ model }: Asked): PaiError {
  return failure("reply_cut", `the reply of ${model} ended before it was whole`, onceAtOnce, { hint: "ask again" });
}

function broken({ provider }: Asked): PaiError {
  return failure("reply_invalid", `${provider} sent a reply that is not JSON`, onceAtOnce, { hint: "ask again" });
}

function noStream({ provider, address }: Asked, response: Response): PaiError {
  const type = response.headers.get("content-type") ?? "text of no known kind";
  return failure("network", `${address} is not ${provider}: it answered with ${type.slice(0, 80)}`, onceSoon, {
    hint: "check the base URL, and whether the network wants a login",
  });
}
