/** A server on loopback that passes requests on to a provider and keeps the bodies of both sides, without keys. */
import { maskSecrets } from "../../src/core/secrets/key-shapes.ts";

/** One request and its answer; the form of the files in test/models/recorded. */
export interface Exchange {
  readonly provider: string;
  /** As it was asked for: `provider:name`. */
  readonly model: string;
  readonly method: string;
  /** Path and query after the host. */
  readonly path: string;
  /** null: the request had no body. */
  readonly request: unknown;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The raw text. */
  readonly response: string;
}

export interface Recorder extends AsyncDisposable {
  readonly origin: string;
  /** What was exchanged since the last call. */
  readonly take: (model: string) => Promise<readonly Exchange[]>;
}

/** Headers that say how a server counts and how long to wait; others may name the account. */
const tellingHeader = /^(content-type|date|retry-after|x-should-retry|.*ratelimit.*)$/;
const hopHeader = /^(host|connection|accept-encoding|content-length|content-encoding|transfer-encoding|keep-alive)$/;
/** Characters of an answer that are kept. */
const maxKept = 4 * 1024 * 1024;

/** Names of users, organisations and projects, as OpenRouter and OpenAI put them into errors. */
const account = /\b(?:user|org|proj)[-_][A-Za-z0-9]{10,}/g;

/** Without these keys, without whatever else looks like one, and without names of accounts. */
export function maskAll(text: string, keys: readonly string[]): string {
  const plain = keys.reduce((masked, key) => (key === "" ? masked : masked.replaceAll(key, "[key]")), text);
  return maskSecrets(plain).replaceAll(account, "[account]");
}

interface Target {
  readonly provider: string;
  /** Scheme and host of the provider. */
  readonly origin: string;
  readonly keys: readonly string[];
}

const without = (headers: Headers, unwanted: RegExp): Headers => {
  const kept = new Headers(headers);
  for (const name of headers.keys()) if (unwanted.test(name)) kept.delete(name);
  return kept;
};

export function openRecorder({ provider, origin, keys }: Target): Recorder {
  const kept: Promise<Omit<Exchange, "model">>[] = [];
  const mask = (text: string) => maskAll(text, keys);
  const parse = (text: string): unknown => {
    try {
      return JSON.parse(mask(text));
    } catch {
      return mask(text);
    }
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(incoming) {
      const { pathname, search } = new URL(incoming.url);
      const { method } = incoming;
      const sent = await incoming.text();
      const answer = await fetch(origin + pathname + search, {
        method,
        headers: without(incoming.headers, hopHeader),
        redirect: "manual",
        ...(method === "GET" ? {} : { body: sent }),
      }).catch((thrown: Error) => away(`cannot reach ${origin}: ${thrown.message}`));
      const [toPai, toKeep] = answer.body === null ? [null, null] : answer.body.tee();
      const headers = Object.fromEntries([...answer.headers].filter(([name]) => tellingHeader.test(name)));
      const { status } = answer;
      const path = mask(pathname + search);
      const request = sent === "" ? null : parse(sent);
      kept.push(
        readKept(toKeep).then((text) => ({ provider, method, path, request, status, headers, response: mask(text) })),
      );
      return new Response(toPai, { status, headers: without(answer.headers, hopHeader) });
    },
  });
  return {
    origin: server.url.origin,
    take: async (model) => (await Promise.all(kept.splice(0))).map((exchange) => ({ ...exchange, model })),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** The answer in the place of a server that gives none; asking again is not worth the wait. */
const away = (message: string): Response =>
  new Response(message, { status: 502, headers: { "x-should-retry": "false" } });

/** The text of an answer, as far as it came: a client may leave early. */
async function readKept(stream: ReadableStream<Uint8Array> | null): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of stream ?? []) if (text.length < maxKept) text += decoder.decode(bytes, { stream: true });
  } catch {
    // What came is kept.
  }
  return text;
}
