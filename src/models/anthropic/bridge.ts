/** The bridge to Anthropic's Messages API. */
import type { Stream } from "../stream.ts";
import { type BridgeOptions, openBridge, postTo, turnOf } from "../wire/open-bridge.ts";
import { createAnthropicDecoder } from "./decode.ts";
import { encodeAnthropic } from "./encode.ts";

/** Opens the stream for one key. Throws key_invalid, as openBridge does. */
export function openAnthropic(options: BridgeOptions): Stream {
  const { model, endpoint } = options;
  return openBridge(
    {
      encode: (request) => encodeAnthropic(model, request),
      send: postTo(`${endpoint.url}/v1/messages`),
      decode: (request) => createAnthropicDecoder(model, turnOf(request)),
    },
    options,
  );
}
