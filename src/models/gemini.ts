/** The bridge to Google's Gemini, through the raw stream of @google/generative-ai. */
import type { GenerateContentRequest } from "@google/generative-ai";
import { PaiError, toPaiError } from "../core/error.ts";
import type { Endpoint } from "./endpoint.ts";
import { createGeminiDecoder } from "./gemini-decode.ts";
import { encodeGemini } from "./gemini-encode.ts";
import { openExchange } from "./gemini-fetch.ts";
import type { Asked } from "./http-errors.ts";
import { throwIfInterrupted } from "./interruption.ts";
import type { Key } from "./keys-in-turn.ts";
import type { Stream } from "./stream.ts";

export const geminiUrl = "https://generativelanguage.googleapis.com";

export interface GeminiOptions {
  /** Bare name, as in `gemini-2.5-flash-lite`. */
  readonly model: string;
  /** null: the request carries none. */
  readonly key: Key | null;
  readonly endpoint: Endpoint;
  /** Silence after which the connection counts as dead, in milliseconds. */
  readonly idleMs: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** What may still go wrong when the reply is whole: it does not matter then. */
const lateCodes: ReadonlySet<string> = new Set(["network", "reply_cut"]);

/** One attempt per call; asking again is the business of `retry.ts`. Throws `key_invalid` for a key no header can carry. */
export function openGemini({ model, key, endpoint, idleMs, now }: GeminiOptions): Stream {
  if (key !== null && !/^[\x21-\x7e]+$/.test(key.key)) {
    throw new PaiError("key_invalid", `the key "${key.id}" holds characters no key has`, {
      hint: "set it again with: pai config set",
    });
  }
  const asked: Asked = { provider: "gemini", model, key, address: endpoint.address, proxy: endpoint.proxy };

  return async function* (request, signal) {
    throwIfInterrupted(signal);
    const { GoogleGenerativeAI } = await import("@google/generative-ai");
    throwIfInterrupted(signal);
    const body = encodeGemini(model, request) as unknown as GenerateContentRequest;
    const decoder = createGeminiDecoder(model, request.messages.filter(({ role }) => role === "assistant").length + 1);
    const exchange = openExchange({ asked, signal, idleMs, now });
    try {
      const sdk = new GoogleGenerativeAI(key?.key ?? "").getGenerativeModel({ model });
      const { stream, response } = await exchange.send((customHeaders) =>
        sdk.generateContentStream(body, { baseUrl: endpoint.url, customHeaders }),
      );
      response.catch(() => {});
      for await (const chunk of stream) {
        throwIfInterrupted(signal);
        yield* decoder.read(chunk);
      }
    } catch (thrown) {
      const error = thrown instanceof PaiError ? thrown : (exchange.failed() ?? toPaiError(thrown));
      if (!decoder.finished() || !lateCodes.has(error.code)) throw error;
    } finally {
      exchange.close();
    }
    yield decoder.end(key?.id ?? null);
  };
}
