/** The bridge to Google's Gemini: its SDK sends the request; pai reads the answer, since the SDK loses parts of it. */
import { type GenerateContentRequest, GoogleGenerativeAI } from "@google/generative-ai";
import type { Stream } from "../stream.ts";
import { type BridgeOptions, openBridge, turnOf } from "../wire/open-bridge.ts";
import { createGeminiDecoder } from "./decode.ts";
import { encodeGemini } from "./encode.ts";
import { lendFetch } from "./lend-fetch.ts";

/** Opens the stream for one key. Throws key_invalid, as openBridge does. */
export function openGemini(options: BridgeOptions): Stream {
  const { model, key, endpoint } = options;
  return openBridge(
    {
      decode: (request) => createGeminiDecoder(model, turnOf(request)),
      async ask(request, exchange) {
        const body = encodeGemini(model, request) as unknown as GenerateContentRequest;
        const sdk = new GoogleGenerativeAI(key?.key ?? "").getGenerativeModel({ model });
        return lendFetch(exchange.send, (customHeaders) =>
          sdk.generateContentStream(body, { baseUrl: endpoint.url, customHeaders }),
        );
      },
    },
    options,
  );
}
