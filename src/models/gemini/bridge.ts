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
