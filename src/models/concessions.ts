/** What servers refuse of a request, in their own words, and how they are asked again: one row each. */
import { type ErrorCode, PaiError } from "../core/error.ts";
import { type Fields as Body, isFields, type ModelRequest } from "../core/model.ts";
import type { Notice } from "../core/question.ts";
import { nearestNamed } from "./effort.ts";
import { wordsOfError } from "./wire/http-errors.ts";

interface Lesson {
  readonly words: string;
  /** Messages of the request that was refused. */
  readonly messages: number;
}

/** How a request is made without what was refused: in its own terms, in those of the body, or in both. */
interface Concession {
  readonly refused: RegExp;
  /** The codes with which it is refused; absent: request_rejected. */
  readonly codes?: readonly ErrorCode[];
  /** What follows the model's name in the notice. */
  readonly told: (now: ModelRequest) => string;
  readonly request?: (request: ModelRequest, lesson: Lesson) => ModelRequest;
  /** Fields that leave the body, on whatever wire; a dot leads into an object. */
  readonly fields?: readonly string[];
  readonly body?: (body: Body, lesson: Lesson) => Body;
}

const without = (what: string) => (): string => `takes no ${what}: asked without it`;

/** Applied in this order. */
const concessions: readonly Concession[] = [
  {
    refused: /reasoning[._ ]summar|thinking\S*display|include_?thoughts/i,
    told: () => "tells nothing of its thoughts: asked without it",
    fields: ["reasoning.summary", "thinking.display", "generationConfig.thinkingConfig.includeThoughts"],
  },
  {
    refused:
      /\beffort\b|reasoning_effort|thinking[ _]?(level|budget|config)|only works in thinking mode|budget_tokens|enable_thinking|chat_template_kwargs|adaptive thinking|thinking\.type|not support (thinking|reasoning)/i,
    told: ({ effort }) =>
      effort == null
        ? "cannot be told how hard to think: the effort has no effect"
        : `is asked with the effort ${effort}`,
    request: (request, { words }) =>
      request.effort == null ? request : { ...request, effort: nearestNamed(request.effort, words) },
  },
  {
    refused: /temperature/i,
    told: without("temperature"),
    fields: ["temperature", "options.temperature", "generationConfig.temperature"],
  },
  {
    refused:
      /output_config|output_format|response_format|response_?schema|response_?mime_?type|text\.format|json_schema|json (schema|mode)|structured output|grammar/i,
    told: without("JSON schema"),
    request: putSchemaInWords,
  },
  {
    refused: /stream_options/i,
    told: without("count of tokens in its stream"),
    fields: ["stream_options"],
  },
  {
    refused: /verified to stream|\bstream(ing)?\b['"`]?( \w+){0,6} (not supported|unsupported|not (allowed|enabled))/i,
    told: () => "streams no reply here: shown once it is whole",
    fields: ["stream_options"],
    body: (body) => ({ ...body, stream: false }),
  },
  {
    refused:
      /(system|developer) (role|instruction|message|prompt)s?( \w+){0,3} not (supported|enabled|allowed)|not support ['"`]?(system|developer)\b|only user and assistant roles|['"`]instructions['"`] \w+ is not supported/i,
    // llama.cpp calls it a failure of its own when a chat template refuses the role.
    codes: ["request_rejected", "provider_down"],
    told: () => "takes no system instructions: asked with them in the first message",
    request: putSystemInMessage,
  },
  {
    refused: /\binclude\b|encrypted[ _]content is not supported/i,
    told: () => "sends no reasoning along: asked without it",
    fields: ["include"],
  },
  {
    refused: /reasoning_content\b.{0,60}(must be (passed|provided|sent)|is missing)/i,
    told: () => "wants reasoning in every earlier reply: asked with empty ones",
    body: putEmptyReasoning,
  },
  {
    refused: /missing an? ['"`]?thought_?signature/i,
    told: () => "wants a signature on every earlier call: asked with one that says there is none",
    body: signCalls,
  },
  {
    refused: /\badaptive\b|thinking\.(type|display)/i,
    told: () => "shows no summary of its thoughts: asked without it",
    fields: ["thinking"],
  },
  {
    refused: /prompt_cache_key/i,
    told: without("key for its cache"),
    fields: ["prompt_cache_key"],
  },
  {
    refused: /encrypted|signature|thinking.*\bblock|(message|assistant|property).*\b(reasoning\w*|thinking)\b/is,
    told: without("reasoning of earlier replies"),
    request: leaveOutReasoning,
  },
  {
    refused: /max_completion_tokens['"`]? instead/i,
    told: () => "calls the length of a reply by another name: asked with that",
    body: ({ max_tokens, ...body }) =>
      max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens },
  },
  {
    refused: /max\w*tokens|maximum (context length|tokens)|request too large/i,
    codes: ["request_rejected", "request_too_long", "credit_exhausted"],
    told: ({ maxOutputTokens }) => `gives at most ${maxOutputTokens} tokens here: asked for no more`,
    request: shorten,
  },
];

type Encode = (request: ModelRequest) => Body;
type Learned = ReadonlyMap<Concession, Lesson>;

export type Concessions = ReturnType<typeof createConcessions>;

export function createConcessions(model: string, notify: (notice: Notice) => void) {
  let learned: Learned = new Map();
  return {
    encode: (request: ModelRequest, encode: Encode): Body => concede(request, encode, learned),
    /** Whether asking again has a point after `sent` failed. What is conceded, and told, holds from now on. */
    learn(failed: unknown, sent: Body, request: ModelRequest, encode: Encode): boolean {
      if (!(failed instanceof PaiError)) return false;
      const words = wordsOfError(failed);
      if (failed.code === "request_rejected" && !Bun.deepEquals(concede(request, encode, learned), sent)) return true;
      for (const row of concessions) {
        const { refused, codes = ["request_rejected"] } = row;
        if (!codes.includes(failed.code) || !refused.test(words)) continue;
        const more = new Map(learned).set(row, { words, messages: request.messages.length });
        if (Bun.deepEquals(concede(request, encode, more), sent)) continue;
        learned = more;
        notify({ level: "info", code: "conceded", text: `${model} ${row.told(adapt(request, learned))}` });
        return true;
      }
      return false;
    },
  };
}

const inOrder = (learned: Learned) =>
  concessions.flatMap((row) => {
    const lesson = learned.get(row);
    return lesson === undefined ? [] : [{ ...row, lesson }];
  });

function concede(request: ModelRequest, encode: Encode, learned: Learned): Body {
  const rows = inOrder(learned);
  const made = rows.flatMap(({ fields = [] }) => fields).reduce(withoutField, encode(adapt(request, learned)));
  return rows.reduce((body, row) => row.body?.(body, row.lesson) ?? body, made);
}

const adapt = (request: ModelRequest, learned: Learned): ModelRequest =>
  inOrder(learned).reduce((made, row) => row.request?.(made, row.lesson) ?? made, request);

/** The body without the field at a path, and without the object that is empty without it. */
function withoutField(body: Body, path: string): Body {
  const [name = "", ...inner] = path.split(".");
  const value = body[name];
  if (value === undefined) return body;
  const { [name]: _, ...others } = body;
  if (inner.length === 0) return others;
  if (!isFields(value)) return body;
  const left = withoutField(value, inner.join("."));
  return Object.keys(left).length === 0 ? others : { ...body, [name]: left };
}

/** Puts the schema into the instructions: the server does not enforce it, but the model can read it. */
function putSchemaInWords(request: ModelRequest): ModelRequest {
  if (request.format === null) return request;
  const words = `Its JSON Schema:\n${JSON.stringify(request.format.schema)}`;
  return { ...request, system: `${request.system}\n${words}`, format: null };
}

function putSystemInMessage({ system, messages, ...request }: ModelRequest): ModelRequest {
  const first = messages.findIndex(({ role }) => role === "user");
  const moved = messages.map((message, at) =>
    at === first && message.role === "user" ? { ...message, text: `${system}\n\n${message.text}` } : message,
  );
  return { ...request, system: first < 0 ? system : "", messages: first < 0 || system === "" ? messages : moved };
}

function changeReplies(body: Body, change: (reply: Body) => Body): Body {
  if (!Array.isArray(body["messages"])) return body;
  const messages = body["messages"].map((message: Body) =>
    message["role"] === "assistant" ? change(message) : message,
  );
  return { ...body, messages };
}

/** For servers that want the field even where another model wrote the reply. */
function putEmptyReasoning(body: Body): Body {
  return changeReplies(body, (reply) => ({ reasoning_content: "", ...reply }));
}

/** What Gemini 3 accepts as the signature of a call that it did not make itself. */
export const foreignSignature = "skip_thought_signature_validator";

/** Signs the calls of other models for Gemini, as OpenRouter, whose words say so, or Google's own server wants it. */
function signCalls(body: Body, { words }: Lesson): Body {
  const isOpenRouter = words.includes("Provider returned error");
  const signed = { google: { thought_signature: foreignSignature } };
  return changeReplies(body, (reply) => {
    const calls = reply["tool_calls"];
    if (!Array.isArray(calls)) return reply;
    if (!isOpenRouter) return { ...reply, tool_calls: calls.map((call: Body) => ({ extra_content: signed, ...call })) };
    const block = { type: "reasoning.encrypted", data: foreignSignature, format: "google-gemini-v1" };
    return {
      reasoning_details: calls.map((call: Body, index) => ({ ...block, id: call["id"] ?? "", index })),
      ...reply,
    };
  });
}

/** Only what was refused goes: the reasoning of later replies belongs to the conversation as it is now. */
function leaveOutReasoning(request: ModelRequest, { messages }: Lesson): ModelRequest {
  const withoutNative = request.messages.map((message, at) =>
    at < messages && message.role === "assistant" ? { ...message, native: null } : message,
  );
  return { ...request, messages: withoutNative };
}

type Numbers = readonly [number, number];

/** The words in which services say how long a reply may be, and the number in them; `asked`: the number they refused. */
const lengths: readonly (readonly [words: RegExp, length: (numbers: Numbers, asked: number) => number])[] = [
  [/can only afford ([\d,]+)/i, ([most]) => most],
  [/context length (?:is|of) ([\d,]+).*?([\d,]+) (?:input tokens|in the messages|of text input)/is, ([a, b]) => a - b],
  [/limit ([\d,]+),.*?requested ([\d,]+)/i, ([limit, sum], asked) => asked - (sum - limit)],
  [/range .*?\[1, ?([\d,]+)\]/i, ([most]) => most],
  [/to ([\d,]+) \(exclusive\)/i, ([above]) => above - 1],
  [/to ([\d,]+) \(inclusive\)/i, ([most]) => most],
  [/(?:at most|less than or equal to|model limit of|maximum (?:value )?of|>=?|<=?) [`'"]?([\d,]+)/i, ([most]) => most],
];

const leastReply = 256;

/** The length that the server named; the request as it is where it named none, or one that is of no use. */
function shorten(request: ModelRequest, { words }: Lesson): ModelRequest {
  const { maxOutputTokens: asked } = request;
  for (const [pattern, length] of lengths) {
    const found = pattern.exec(words);
    if (found === null) continue;
    const [a = 0, b = 0] = found.slice(1).map((digits) => Number(digits.replaceAll(",", "")));
    const most = length([a, b], asked);
    if (most >= leastReply && most < asked) return { ...request, maxOutputTokens: most };
  }
  return request;
}
