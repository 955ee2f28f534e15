/** Encodes a request of pai as the body of one request to Anthropic's Messages API. */
import { isRepeated, type Json, type Message, type ModelRequest } from "../../core/model.ts";
import { fields, listIn } from "../wire/fields.ts";
import { toStrictSchema } from "../wire/strict-schema.ts";

type Block = { readonly [key: string]: Json };
interface Turn {
  readonly role: "user" | "assistant";
  readonly content: readonly Block[];
}

/** Marks native replies of this model: only these may be sent back unchanged. */
export const nativeOfAnthropic = (model: string): string => `anthropic:${model}`;

const cached = { cache_control: { type: "ephemeral" } };

/** Models that think only when asked to. Newer ones do it unasked, and would show nothing of it. */
const thinksUnasked = (model: string): boolean => !/claude-(2|3|instant|(opus|sonnet|haiku)-4)/.test(model);

/**
 * Tools and system are marked for the provider's cache, and so is a conversation with which the next request begins. Thinking blocks are sent back whole to the model that made them, until it refuses them: their
 * signatures depend on the account and on all messages before.
 */
export function encodeAnthropic(model: string, request: ModelRequest): Block {
  const { system, tools, format } = request;
  const turns = joinTurns(request.messages.map((message) => encodeMessage(model, message)));
  return {
    model,
    stream: true,
    max_tokens: request.maxOutputTokens,
    ...(system === "" ? {} : { system: [{ type: "text", text: system, ...cached }] }),
    messages: (isRepeated(request) ? markLast(turns) : turns) as unknown as Json,
    ...(request.effort == null && thinksUnasked(model)
      ? { thinking: { type: "adaptive", display: "summarized" } }
      : {}),
    ...(request.temperature === null ? {} : { temperature: Math.min(1, request.temperature) }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
          tool_choice: { type: request.toolChoice },
        }),
    ...(format === null
      ? {}
      : { output_config: { format: { type: "json_schema", schema: toStrictSchema(format.schema) } } }),
  };
}

function encodeMessage(model: string, message: Message): Turn {
  switch (message.role) {
    case "user":
      return { role: "user", content: textBlocks(message.text) };
    case "tools":
      return {
        role: "user",
        content: message.results.map(({ id, ok, text }) => ({
          type: "tool_result",
          tool_use_id: toId(id),
          content: text,
          ...(ok ? {} : { is_error: true }),
        })),
      };
    case "assistant":
      return { role: "assistant", content: encodeReply(model, message) };
  }
}

type Reply = Extract<Message, { role: "assistant" }>;

function encodeReply(model: string, message: Reply): readonly Block[] {
  const isOwn = message.native?.model === nativeOfAnthropic(model);
  const own = isOwn ? listIn(fields(message.native.content)["blocks"]) : [];
  if (own.length > 0) return own as readonly Block[];
  return [
    ...textBlocks(message.text),
    ...message.calls.map(({ id, name, input }) => ({ type: "tool_use", id: toId(id), name, input })),
  ];
}

/** The text as blocks; none for a blank text, which Anthropic refuses. */
function textBlocks(said: string): readonly Block[] {
  return said.trim() === "" ? [] : [{ type: "text", text: said }];
}

/** Replaces characters in ids of other providers that Anthropic refuses. */
function toId(id: string): string {
  return id.replace(/[^\w-]/g, "_");
}

/** Joins neighbouring messages of one role, since the results of all calls must be in one message. */
function joinTurns(turns: readonly Turn[]): readonly Turn[] {
  const joined: Turn[] = [];
  for (const turn of turns.filter(({ content }) => content.length > 0)) {
    const last = joined.at(-1);
    if (last?.role !== turn.role) joined.push(turn);
    else joined[joined.length - 1] = { role: turn.role, content: [...last.content, ...turn.content] };
  }
  return joined;
}

function markLast(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.at(-1);
  const block = last?.content.at(-1);
  if (last === undefined || block === undefined || last.role !== "user") return turns;
  return [...turns.slice(0, -1), { role: last.role, content: [...last.content.slice(0, -1), { ...block, ...cached }] }];
}
