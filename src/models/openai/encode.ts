/** Encodes a request of pai as the body of one request to OpenAI's Responses API. */
import type { Json, Message, ModelRequest } from "../../core/model.ts";
import { cacheKeyOf } from "../wire/cache-key.ts";
import { fields, listIn } from "../wire/fields.ts";
import { toStrictSchema } from "../wire/strict-schema.ts";

type Item = { readonly [key: string]: Json };

/** Marks native replies of this model: only these may be sent back unchanged. */
export const nativeOfOpenai = (model: string): string => `openai:${model}`;

/** Models that are known not to think. Any other returns its reasoning encrypted, or refuses to. */
const isThoughtless = (model: string): boolean => /gpt-[34]|chat/.test(model);

/**
 * OpenAI counts the length that a reply may have against the tokens of a minute, used or not: it is only told where the
 * user capped it. The provider stores nothing, so a reply of the same model is sent back whole, with its encrypted
 * reasoning.
 */
export function encodeOpenai(model: string, request: ModelRequest): Item {
  const { system, tools, format } = request;
  return {
    model,
    stream: true,
    store: false,
    ...(system === "" ? {} : { instructions: system }),
    input: request.messages.flatMap((message) => encodeMessage(model, message)),
    ...(request.isCapped ? { max_output_tokens: Math.max(16, request.maxOutputTokens) } : {}),
    ...(request.temperature === null ? {} : { temperature: request.temperature }),
    ...(isThoughtless(model) ? {} : { include: ["reasoning.encrypted_content"] }),
    prompt_cache_key: cacheKeyOf(request),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, schema }) => ({
            type: "function",
            name,
            description,
            parameters: schema,
            strict: false,
          })),
          tool_choice: request.toolChoice,
        }),
    ...(format === null
      ? {}
      : {
          text: {
            format: { type: "json_schema", name: format.name, strict: true, schema: toStrictSchema(format.schema) },
          },
        }),
  };
}

function encodeMessage(model: string, message: Message): readonly Item[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: message.text }];
    case "tools":
      return message.results.map(({ id, ok, text }) => ({
        type: "function_call_output",
        call_id: id,
        output: ok ? text : `error: ${text}`,
      }));
    case "assistant":
      return encodeReply(model, message);
  }
}

type Reply = Extract<Message, { role: "assistant" }>;

function encodeReply(model: string, message: Reply): readonly Item[] {
  const isOwn = message.native?.model === nativeOfOpenai(model);
  const own = isOwn ? listIn(fields(message.native.content)["items"]) : [];
  if (own.length > 0) return own as readonly Item[];
  return [
    ...(message.text === "" ? [] : [{ role: "assistant", content: message.text }]),
    ...message.calls.map(({ id, name, input }) => ({
      type: "function_call",
      call_id: id,
      name,
      arguments: JSON.stringify(input),
    })),
  ];
}
