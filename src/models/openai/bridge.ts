/** The bridge to OpenAI's Responses API. */
import type { Stream } from "../stream.ts";
import { type BridgeOptions, openBridge, postTo, turnOf } from "../wire/open-bridge.ts";
import { createOpenaiDecoder } from "./decode.ts";
import { encodeOpenai } from "./encode.ts";

/** Opens the stream for one key. Throws key_invalid, as openBridge does. */
export function openOpenai(options: BridgeOptions): Stream {
  const { model, endpoint } = options;
  return openBridge(
    {
      encode: (request) => encodeOpenai(model, request),
      send: postTo(`${endpoint.url}/responses`),
      decode: (request) => createOpenaiDecoder(model, turnOf(request)),
    },
    options,
  );
}
