/** What pai asks Ollama, in its own form of a chat. */
import type { ModelRequest } from "../../core/model.ts";
import { encodeMessages, encodeTools, type Form, type Item, withoutDialect } from "../chat/encode.ts";
import type { Without } from "../drop-options.ts";

const ollamaForm: Form = {
  call: ({ name, input }) => ({ function: { name, arguments: input } }),
  result: ({ name }) => ({ tool_name: name }),
};

/**
 * Only its own form takes the size of the context. What does not fit is an error and not cut away unseen.
 * `window` null: the server's own.
 */
export function encodeOllama(model: string, request: ModelRequest, without: Without, window: number | null): Item {
  const { format } = request;
  return {
    model,
    stream: true,
    truncate: false,
    shift: false,
    messages: encodeMessages(request, ollamaForm),
    options: {
      num_predict: request.maxOutputTokens,
      ...(window === null ? {} : { num_ctx: window }),
      ...(without.has("temperature") ? {} : { temperature: request.temperature }),
    },
    ...encodeTools(request),
    ...(format === null || without.has("format") ? {} : { format: withoutDialect(format.schema) }),
  };
}
