/** What pai asks a server of its user: a Chat Completions request, or Ollama's own form of it. */
import type { Call, CallResult, Json, Message, ModelRequest } from "../../core/model.ts";
import type { Without } from "../drop-options.ts";

type Item = { readonly [key: string]: Json };

/** For every server that speaks Chat Completions. */
export function encodeChat(model: string, request: ModelRequest, without: Without): Item {
  const { format } = request;
  return {
    model,
    stream: true,
    ...(without.has("usage") ? {} : { stream_options: { include_usage: true } }),
    messages: encodeMessages(request, chatForm),
    max_tokens: request.maxOutputTokens,
    ...(without.has("temperature") ? {} : { temperature: request.temperature }),
    ...encodeTools(request),
    ...(format === null || without.has("format")
      ? {}
      : {
          response_format: {
            type: "json_schema",
            json_schema: { name: format.name, strict: true, schema: withoutDialect(format.schema) },
          },
        }),
  };
}

/**
 * For Ollama: only its own form takes the size of the context. What does not fit is an error and not cut away unseen.
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

/** How calls and their results are written. */
interface Form {
  readonly call: (call: Call) => Item;
  readonly result: (result: CallResult) => Item;
}

const chatForm: Form = {
  call: ({ id, name, input }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(input) } }),
  result: ({ id }) => ({ tool_call_id: id }),
};
const ollamaForm: Form = {
  call: ({ name, input }) => ({ function: { name, arguments: input } }),
  result: ({ name }) => ({ tool_name: name }),
};

function encodeMessages({ system, messages }: ModelRequest, form: Form): readonly Item[] {
  return [
    ...(system === "" ? [] : [{ role: "system", content: system }]),
    ...messages.flatMap((message) => encodeMessage(message, form)),
  ];
}

function encodeMessage(message: Message, { call, result }: Form): readonly Item[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: message.text }];
    case "tools":
      return message.results.map((each) => ({
        role: "tool",
        ...result(each),
        content: each.ok ? each.text : `error: ${each.text}`,
      }));
    case "assistant": {
      const calls = message.calls.map(call);
      return [{ role: "assistant", content: message.text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
    }
  }
}

function encodeTools({ tools, toolChoice }: ModelRequest): Item {
  if (tools.length === 0 || toolChoice === "none") return {};
  return {
    tools: tools.map(({ name, description, schema }) => ({
      type: "function",
      function: { name, description, parameters: withoutDialect(schema) },
    })),
  };
}

/** Grammar makers stumble over the name of the dialect. */
function withoutDialect(schema: Json): Json {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema"));
}
