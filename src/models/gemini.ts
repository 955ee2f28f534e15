/** The bridge to Google's Gemini, through the raw stream of @google/generative-ai. */
import type { GenerateContentRequest } from "@google/generative-ai";
import { type BridgeOptions, openBridge, turnOf } from "./bridge.ts";
import type { Exchange } from "./exchange.ts";
import { createGeminiDecoder } from "./gemini-decode.ts";
import { encodeGemini } from "./gemini-encode.ts";
import { lendFetch } from "./lend-fetch.ts";
import type { Stream } from "./stream.ts";

export const geminiUrl = "https://generativelanguage.googleapis.com";

export function openGemini(options: BridgeOptions): Stream {
  const { model, key, endpoint } = options;
  return openBridge(
    {
      provider: "gemini",
      headers: (secret) => ({ "x-goog-api-key": secret }),
      decode: (request) => createGeminiDecoder(model, turnOf(request)),
      async ask(request, exchange) {
        const { GoogleGenerativeAI } = await import("@google/generative-ai");
        const failed = exchange.failed();
        if (failed !== null) throw failed;
        const body = encodeGemini(model, request) as unknown as GenerateContentRequest;
        const sdk = new GoogleGenerativeAI(key?.key ?? "").getGenerativeModel({ model });
        const { stream, response } = await lendFetch(
          async (url, init) => toEventStream(await exchange.send(url, init), exchange),
          (customHeaders) => sdk.generateContentStream(body, { baseUrl: endpoint.url, customHeaders }),
        );
        response.catch(() => {});
        return stream;
      },
    },
    options,
  );
}

/** The one form the SDK's parser reads: `data: {json}` and a blank line. It takes U+2028 for the end of the line. */
function toEventStream(response: Response, exchange: Exchange): Response {
  const chunks = exchange.chunks(response);
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
        controller.error(exchange.note(thrown));
      }
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
