/** The bridge to Anthropic's Messages API, through its official SDK. */
import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages";
import type { Without } from "../drop-options.ts";
import type { Stream } from "../stream.ts";
import { type BridgeOptions, openBridge, turnOf } from "../wire/open-bridge.ts";
import { createAnthropicDecoder } from "./decode.ts";
import { encodeAnthropic } from "./encode.ts";

/** Opens the stream for one key. Throws key_invalid, as openBridge does. */
export function openAnthropic(options: BridgeOptions, without: Without): Stream {
  const { model, key, endpoint } = options;
  // Loads while pai reads the workspace, so that the first request need not wait for it.
  const loading = import("@anthropic-ai/sdk");
  return openBridge(
    {
      decode: (request) => createAnthropicDecoder(model, turnOf(request)),
      async ask(request, exchange) {
        const { Anthropic } = await loading;
        const failed = exchange.failed();
        if (failed !== null) throw failed;
        const sdk = new Anthropic({
          apiKey: key?.key ?? "none",
          authToken: null,
          webhookKey: null,
          baseURL: endpoint.url,
          maxRetries: 0,
          logLevel: "off",
          fetch: (url, init) => exchange.send(String(url), init ?? {}),
        });
        const body = encodeAnthropic(model, request, without) as unknown as MessageCreateParamsStreaming;
        return sdk.messages.create(body).asResponse();
      },
    },
    options,
  );
}
