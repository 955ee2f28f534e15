/** The bytes of a Gemini answer as its chunks, however a gateway wrapped them. */
import type { PaiError } from "../core/error.ts";
import { fields, list, parseJson, text } from "./fields.ts";
import { type Asked, failure, onceAtOnce, onceSoon, readHttpError } from "./http-errors.ts";
import { createSseReader } from "./sse.ts";

export interface ChunkOptions {
  readonly asked: Asked;
  /** Called for every piece that arrives, also for one that is only a sign of life. */
  readonly heard: () => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

const statuses: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
};

/**
 * Chunks in order. Throws PaiError for an `error` in the middle, for one that is no JSON, for an answer
 * that is no stream at all; a connection that breaks throws what the runtime throws.
 */
export async function* readChunks(response: Response, options: ChunkOptions): AsyncGenerator<unknown, void> {
  const sse = createSseReader();
  const decoder = new TextDecoder();
  let seen = false;
  for await (const bytes of response.body ?? []) {
    options.heard();
    for (const data of sse.push(decoder.decode(bytes, { stream: true }))) {
      seen = true;
      yield* readData(data, response, options);
    }
  }
  const tail = [...sse.push(decoder.decode()), ...sse.end()];
  for (const data of tail) yield* readData(data, response, options, cut);
  if (!seen && tail.length === 0) yield* readPlain(sse.stray(), response, options);
}

/** `wrong` says what it means when the data is no JSON. */
function* readData(data: string, response: Response, options: ChunkOptions, wrong = broken): Generator<unknown> {
  if (data.trim() === "" || data === "[DONE]") return;
  const value = parseJson(data);
  if (value !== undefined) {
    yield* check(value, response, options);
    return;
  }
  const lines = data.split("\n");
  if (lines.length === 1) throw wrong(options.asked);
  for (const line of lines) yield* readData(line, response, options, wrong);
}

/** A server that knows no event streams sends the whole answer as JSON; a login page sends HTML. */
function* readPlain(body: string, response: Response, options: ChunkOptions): Generator<unknown> {
  if (body.trim() === "") return;
  const value = parseJson(body);
  const promised = /event-stream/.test(response.headers.get("content-type") ?? "");
  if (value === undefined) throw promised ? cut(options.asked) : noStream(options.asked, response);
  yield* check(value, response, options);
}

function* check(value: unknown, { headers }: Response, { asked, now }: ChunkOptions): Generator<unknown> {
  for (const chunk of Array.isArray(value) ? list(value) : [value]) {
    if ("error" in fields(chunk)) {
      const error = fields(fields(chunk)["error"]);
      const status = typeof error["code"] === "number" ? error["code"] : (statuses[text(error["status"])] ?? 503);
      throw readHttpError(asked, { status, headers, body: JSON.stringify(chunk), now: now() });
    }
    yield chunk;
  }
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
