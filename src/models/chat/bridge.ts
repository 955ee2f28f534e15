/** The bridge to providers with OpenAI's Chat Completions; their rows hold all differences between them. */
import type { Stream } from "../stream.ts";
import { type BridgeOptions, openBridge, postTo } from "../wire/open-bridge.ts";
import { createChatDecoder } from "./decode.ts";
import { encodeChat } from "./encode.ts";
import { nativeOfChat } from "./reasoning.ts";

export function openChat(options: BridgeOptions): Stream {
  const { provider, model, endpoint } = options;
  const owner = nativeOfChat(provider.id, model, endpoint.url);
  const isMarked = /^~?anthropic\//.test(model);
  return openBridge(
    {
      encode: (request) => encodeChat(model, request, owner, { isMarked, dialect: provider.dialect }),
      send: postTo(`${endpoint.url}/chat/completions`),
      decode: (request) => createChatDecoder(request, model, owner),
    },
    options,
  );
}
