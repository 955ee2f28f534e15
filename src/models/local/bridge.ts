/** The bridge to the user's own server: Ollama, llama.cpp, vLLM, LM Studio and others with Chat Completions. */
import type { Fields as ChatItem, ModelRequest, Usage } from "../../core/model.ts";
import type { Notice } from "../../core/question.ts";
import { createChatDecoder, encodeChat, encodeMessages, encodeTools, type MessageForm } from "../chat/bridge.ts";
import { nativeOfChat } from "../chat/reasoning.ts";
import { openEffort } from "../effort.ts";
import type { Stream } from "../stream.ts";
import { type BridgeOptions, openBridge, postTo } from "../wire/open-bridge.ts";
import { type LocalServer, rootOf } from "./server.ts";

export function openLocal(options: BridgeOptions & { readonly server: LocalServer }): Stream {
  const { provider, model, endpoint, server, notify } = options;
  const owner = nativeOfChat(provider.id, model, endpoint.url);
  const isOllama = server.kind === "ollama";
  const effort = isOllama ? openEffort(provider, model, notify, server) : options.effort;
  let isThinkingOff = false;
  const url = isOllama ? `${rootOf(endpoint.url)}/api/chat` : `${endpoint.url}/chat/completions`;
  return openBridge(
    {
      encode: (request) =>
        isOllama
          ? encodeOllama(model, request, owner, { window: server.window, isThinkingOff })
          : encodeChat(model, request, owner),
      // As a grammar, beside the prompt whose beginning such servers keep.
      takesSchemaApart: true,
      send: postTo(url),
      decode: (request) =>
        createChatDecoder(request, model, owner, (usage, isMute) => {
          if (isTruncated(request, usage)) notify(truncated(model, usage));
          if (!isMute || !server.thinks || isThinkingOff) return;
          isThinkingOff = true;
          const text = `${model} thought until its reply was full: asked to think no more from now on`;
          notify({ level: "warning", code: "conceded", text });
        }),
    },
    { ...options, effort },
  );
}

/** Whether the server read only a part of the request: it counts more than ten characters to a token. */
function isTruncated({ system, messages }: ModelRequest, { input, cached }: Usage): boolean {
  const sent = messages.reduce((sum, message) => sum + ("text" in message ? message.text.length : 0), system.length);
  return input > 0 && cached === 0 && input * 10 < sent;
}

function truncated(model: string, { input }: Usage): Notice {
  const text = `the server has read only ${input} tokens of the request: start ${model} with a larger context`;
  return { level: "warning", code: "truncated", text };
}

const ollamaForm: MessageForm = {
  call: ({ name, input }) => ({ function: { name, arguments: input } }),
  result: ({ name }) => ({ tool_name: name }),
};

/**
 * Only Ollama's own API takes the size of the context; null: the server's own. A request that does not fit is an error,
 * and not silently cut.
 */
export function encodeOllama(
  model: string,
  request: ModelRequest,
  owner: string,
  { window, isThinkingOff = false }: { readonly window: number | null; readonly isThinkingOff?: boolean },
): ChatItem {
  const { format } = request;
  return {
    model,
    stream: true,
    truncate: false,
    shift: false,
    ...(isThinkingOff ? { think: false } : {}),
    messages: encodeMessages(request, ollamaForm, owner),
    options: {
      num_predict: request.maxOutputTokens,
      ...(window === null ? {} : { num_ctx: window }),
      ...(request.temperature === null ? {} : { temperature: request.temperature }),
    },
    ...encodeTools(request),
    ...(format === null ? {} : { format: format.schema }),
  };
}
