/** Encodes a request of pai for a server that speaks Chat Completions. */
import { digest } from "../../core/digest.ts";
import type { Call, CallResult, Json, Message, ModelRequest } from "../../core/model.ts";
import type { ChatDialect } from "../../core/providers.ts";
import { cacheKeyOf, withoutDialect } from "../wire/fields.ts";
import { reasoningFor } from "./reasoning.ts";

export type ChatItem = { readonly [key: string]: Json };

/** `owner` marks native replies that may be sent back. `isMarked`: the server caches only what is marked. */
export function encodeChat(
  model: string,
  request: ModelRequest,
  owner: string,
  { isMarked = false, dialect }: { readonly isMarked?: boolean; readonly dialect?: ChatDialect | undefined } = {},
): ChatItem {
  const { format } = request;
  const messages = encodeMessages(request, dialect?.strictMessages === true ? strictForm : chatForm, owner);
  return {
    model,
    stream: true,
    ...(dialect?.countsUnasked === true ? {} : { stream_options: { include_usage: true } }),
    ...(dialect?.hasCacheKey === true ? { prompt_cache_key: cacheKeyOf(request) } : {}),
    messages: isMarked ? markEnds(messages) : messages,
    max_tokens: request.maxOutputTokens,
    ...(request.temperature === null ? {} : { temperature: request.temperature }),
    ...encodeTools(request),
    ...(format === null
      ? {}
      : {
          response_format: {
            type: "json_schema",
            json_schema: { name: format.name, strict: true, schema: format.schema },
          },
        }),
  };
}

/** Marks the end of what every request shares and of what the next one repeats: the instructions, and the last message. */
const markEnds = (messages: readonly ChatItem[]): readonly ChatItem[] =>
  messages.map((message, at) =>
    message["role"] === "system" || at === messages.length - 1
      ? {
          ...message,
          content: [{ type: "text", text: message["content"] ?? "", cache_control: { type: "ephemeral" } }],
        }
      : message,
  );

/** How a server wants calls and their results. */
export interface MessageForm {
  readonly call: (call: Call) => ChatItem;
  readonly result: (result: CallResult) => ChatItem;
  /** A message of the model between results and a user's message, for servers that want one there; absent: none. */
  readonly pause?: ChatItem;
}

const chatForm: MessageForm = {
  call: ({ id, name, input }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(input) } }),
  result: ({ id }) => ({ tool_call_id: id }),
};

/** For servers whose call ids are nine letters and digits, and which accept no user message after a tool's. */
const strictForm: MessageForm = {
  call: (call) => chatForm.call({ ...call, id: shortId(call.id) }),
  result: ({ id }) => ({ tool_call_id: shortId(id) }),
  pause: { role: "assistant", content: "Done." },
};

/** A nine-character id, always the same for the same id, which another provider may have given. */
function shortId(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : digest(id).slice(0, 9);
}

export function encodeMessages(
  { system, messages }: ModelRequest,
  form: MessageForm,
  owner: string,
): readonly ChatItem[] {
  return [
    ...(system === "" ? [] : [{ role: "system", content: system }]),
    ...messages.flatMap((message, at) => [
      ...(form.pause !== undefined && message.role === "user" && messages[at - 1]?.role === "tools"
        ? [form.pause]
        : []),
      ...encodeMessage(message, form, owner),
    ]),
  ];
}

function encodeMessage(message: Message, { call, result }: MessageForm, owner: string): readonly ChatItem[] {
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
      const { reply, calls: extras } = reasoningFor(owner, message.native);
      const calls = message.calls.map((each, at) => ({ ...call(each), ...extras[at] }));
      const made = calls.length === 0 ? {} : { tool_calls: calls };
      return [{ role: "assistant", content: message.text, ...reply, ...made }];
    }
  }
}

export function encodeTools({ tools, toolChoice }: ModelRequest): ChatItem {
  if (tools.length === 0 || toolChoice === "none") return {};
  return {
    tools: tools.map(({ name, description, schema }) => ({
      type: "function",
      function: { name, description, parameters: withoutDialect(schema) },
    })),
  };
}
