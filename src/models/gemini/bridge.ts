/** The bridge to Google's Gemini: its SDK sends the request; pai reads the answer, since the SDK loses parts of it. */
import { type GenerateContentRequest, GoogleGenerativeAI } from "@google/generative-ai";
import type { Stream } from "../stream.ts";
import type { SendRequest } from "../wire/exchange.ts";
import { type BridgeOptions, openBridge, turnOf } from "../wire/open-bridge.ts";
import { createGeminiDecoder } from "./decode.ts";
import { encodeGemini } from "./encode.ts";

/** Opens the stream for one key. Throws key_invalid, as openBridge does. */
export function openGemini(options: BridgeOptions): Stream {
  const { model, key, endpoint } = options;
  return openBridge(
    {
      encode: (request) => encodeGemini(model, request),
      send(body, exchange) {
        const sdk = new GoogleGenerativeAI(key?.key ?? "").getGenerativeModel({ model });
        return lendFetch(exchange.send, (customHeaders) =>
          sdk.generateContentStream(body as unknown as GenerateContentRequest, {
            baseUrl: endpoint.url,
            customHeaders,
          }),
        );
      },
      decode: (request) => createGeminiDecoder(model, turnOf(request)),
    },
    options,
  );
}

const mark = "x-pai-call";
const lent = new Map<string, (url: string, init: RequestInit) => void>();
let original: typeof fetch | null = null;
let serial = 0;

const dispatch = Object.assign(
  (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const headers = new Headers(init?.headers);
    const send = lent.get(headers.get(mark) ?? "");
    if (send === undefined) return (original ?? fetch)(input, init);
    headers.delete(mark);
    send(String(input), { ...init, headers });
    // The SDK never gets the answer: it would read it at the same time as pai. The promise is collected with the call.
    return new Promise(() => {});
  },
  { preconnect: fetch.preconnect },
);

/**
 * Runs `call`, which must put the given headers on its request; every other fetch of the process works as usual.
 * Resolves to the answer of `send`, and throws what `send` or `call` throws.
 */
async function lendFetch(
  send: SendRequest,
  call: (headers: Readonly<Record<string, string>>) => Promise<unknown>,
): Promise<Response> {
  serial += 1;
  const id = String(serial);
  if (lent.size === 0) {
    original = globalThis.fetch;
    globalThis.fetch = dispatch;
  }
  try {
    return await new Promise((resolve, reject) => {
      lent.set(id, (url, init) => resolve(send(url, init)));
      call({ [mark]: id }).catch(reject);
    });
  } finally {
    lent.delete(id);
    if (lent.size === 0 && original !== null) globalThis.fetch = original;
  }
}
