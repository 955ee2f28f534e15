/** The bridge to OpenAI's Responses API, through its official SDK. */
import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses";
import type { Without } from "../drop-options.ts";
import type { Stream } from "../stream.ts";
import { type BridgeOptions, openBridge, turnOf } from "../wire/open-bridge.ts";
import { createOpenaiDecoder } from "./decode.ts";
import { encodeOpenai } from "./encode.ts";

/** Opens the stream for one key. Throws key_invalid, as openBridge does. */
export function openOpenai(options: BridgeOptions, without: Without): Stream {
  const { model, key, endpoint } = options;
  // Loads while pai reads the workspace, so that the first request need not wait for it.
  const loading = import("openai");
  return openBridge(
    {
      decode: (request) => createOpenaiDecoder(model, turnOf(request)),
      async ask(request, exchange) {
        const { OpenAI } = await loading;
        const failed = exchange.failed();
        if (failed !== null) throw failed;
        const sdk = new OpenAI({
          apiKey: key?.key ?? "none",
          adminAPIKey: null,
          baseURL: endpoint.url,
          organization: null,
          project: null,
          webhookSecret: null,
          maxRetries: 0,
          logLevel: "off",
          fetch: (url, init) => exchange.send(String(url), init ?? {}),
        });
        const body = encodeOpenai(model, request, without) as unknown as ResponseCreateParamsStreaming;
        return sdk.responses.create(body).asResponse();
      },
    },
    options,
  );
}
