/** Encodes a request of pai for Ollama's own chat API. */
import type { ModelRequest } from "../../core/model.ts";
import { encodeMessages, encodeTools, type Form, type Item, withoutDialect } from "../chat/encode.ts";

const ollamaForm: Form = {
  call: ({ name, input }) => ({ function: { name, arguments: input } }),
  result: ({ name }) => ({ tool_name: name }),
};

export interface OllamaForm {
  /** Marks native replies that may be sent back. */
  readonly owner: string;
  /** Tokens of input and output together; null: the server's own. */
  readonly window: number | null;
  /** Tells a model that can think not to. */
  readonly isThinkingOff: boolean;
}

/**
 * The body of one request. Only Ollama's own API accepts the size of the context. A request that does not fit is an
 * error, and not silently cut.
 */
export function encodeOllama(model: string, request: ModelRequest, { owner, window, isThinkingOff }: OllamaForm): Item {
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
    ...(format === null ? {} : { format: withoutDialect(format.schema) }),
  };
}
