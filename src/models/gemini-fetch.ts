/** The SDK's way to the network, mended: own signal, a limit on silence, no redirects, whole errors, a clean event stream. */
import type { PaiError } from "../core/error.ts";
import { readChunks } from "./gemini-chunks.ts";
import { type Asked, failure, never, often, readFetchError, readHttpError, renderWait } from "./http-errors.ts";
import { interruption } from "./interruption.ts";
import { lendFetch, type SendRequest } from "./lend-fetch.ts";

/** The one request of one call. */
export interface Exchange {
  /** Runs an SDK call; the request that carries the headers goes through this exchange. */
  send<T>(call: (headers: Readonly<Record<string, string>>) => Promise<T>): Promise<T>;
  /** What really went wrong, when the SDK only knows that something did. */
  failed(): PaiError | null;
  /** Ends the connection and every timer. */
  close(): void;
}

export interface ExchangeOptions {
  readonly asked: Asked;
  readonly signal: AbortSignal;
  /** Silence after which the connection counts as dead, in milliseconds. */
  readonly idleMs: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Error bodies are read up to here. */
const bodyLimit = 65_536;

export function openExchange({ asked, signal, idleMs, now }: ExchangeOptions): Exchange {
  const connection = new AbortController();
  let error: PaiError | null = null;
  let timer: Timer | null = null;

  const giveUp = (reason: PaiError) => {
    error ??= reason;
    close();
  };
  const onAbort = () => giveUp(interruption(signal));
  const heard = () => {
    if (timer !== null) clearTimeout(timer);
    timer = connection.signal.aborted ? null : setTimeout(() => giveUp(silence(asked, idleMs)), idleMs);
  };
  function close(): void {
    if (timer !== null) clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    connection.abort();
  }
  function note(thrown: unknown): PaiError {
    error ??= readFetchError(asked, thrown);
    return error;
  }

  const request: SendRequest = async (url, init) => {
    const headers = new Headers(init.headers);
    if (asked.key === null) headers.delete("x-goog-api-key");
    const response = await fetch(url, {
      ...init,
      headers,
      signal: connection.signal,
      redirect: "manual",
      timeout: false,
      proxy: asked.proxy,
    });
    heard();
    if (response.status >= 300 && response.status < 400) throw redirected(asked, response);
    if (response.ok) return toEventStream(readChunks(response, { asked, heard, now }), note);
    const { status, headers: answered } = response;
    throw readHttpError(asked, { status, headers: answered, body: await readStart(response), now: now() });
  };

  return {
    send(call) {
      signal.addEventListener("abort", onAbort, { once: true });
      heard();
      const noted: SendRequest = (url, init) =>
        request(url, init).catch((thrown) => {
          throw note(thrown);
        });
      return lendFetch(noted, call);
    },
    failed: () => error,
    close,
  };
}

async function readStart(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let body = "";
  for await (const bytes of response.body ?? []) {
    body += decoder.decode(bytes, { stream: true });
    if (body.length >= bodyLimit) break;
  }
  return body;
}

/** The one form the SDK's parser reads: `data: {json}` and a blank line. It takes U+2028 for the end of the line. */
function toEventStream(chunks: AsyncGenerator<unknown, void>, note: (thrown: unknown) => PaiError): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (done === true) return controller.close();
        const line = JSON.stringify(value).replace(/[\u2028\u2029]/g, (each) =>
          each === "\u2028" ? "\\u2028" : "\\u2029",
        );
        controller.enqueue(encoder.encode(`data: ${line}\n\n`));
      } catch (thrown) {
        controller.error(note(thrown));
      }
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function silence({ provider, address }: Asked, idleMs: number): PaiError {
  return failure("network", `${provider} at ${address} sent nothing for ${renderWait(idleMs / 1000)}`, often, {
    hint: "ask again",
  });
}

function redirected({ provider, address }: Asked, response: Response): PaiError {
  const target = URL.parse(response.headers.get("location") ?? "", response.url || address);
  const where = target === null ? "elsewhere" : `to ${target.origin}`;
  return failure("redirected", `${provider} at ${address} redirects ${where}; a key is never sent on`, never, {
    hint: "set the base URL to the address that answers itself",
  });
}
