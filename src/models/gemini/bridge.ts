/** The bridge to Google's Gemini: its SDK sends the request; pai reads the answer, since the SDK loses parts of it. */
import { type GenerateContentRequest, GoogleGenerativeAI } from "@google/generative-ai";
import type { Json, Message, ModelRequest, Fields as Part, Tool, Usage } from "../../core/model.ts";
import { foreignSignature } from "../concessions.ts";
import type { Stream } from "../stream.ts";
import type { Exchange } from "../wire/exchange.ts";
import { count, fields, listIn, textIn, type WireFields, withoutDialect } from "../wire/fields.ts";
import { type BridgeOptions, openBridge, turnOf } from "../wire/open-bridge.ts";
import { createReplyTally, type Decoder, refused, unusable } from "../wire/replies.ts";

export function openGemini(options: BridgeOptions): Stream {
  const { model, key, endpoint } = options;
  return openBridge(
    {
      encode: (request) => encodeGemini(model, request),
      send(body, exchange) {
        const sdk = new GoogleGenerativeAI(key?.key ?? "").getGenerativeModel({ model });
        return lendFetch(exchange.send, (customHeaders) =>
          sdk.generateContentStream(body as unknown as GenerateContentRequest, {
            baseUrl: endpoint.url,
            customHeaders,
          }),
        );
      },
      decode: (request) => createGeminiDecoder(model, turnOf(request)),
    },
    options,
  );
}

const mark = "x-pai-call";
const lent = new Map<string, (url: string, init: RequestInit) => void>();
let original: typeof fetch | null = null;
let serial = 0;

const dispatch = Object.assign(
  (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const headers = new Headers(init?.headers);
    const send = lent.get(headers.get(mark) ?? "");
    if (send === undefined) return (original ?? fetch)(input, init);
    headers.delete(mark);
    send(String(input), { ...init, headers });
    // The SDK never gets the answer: it would read it at the same time as pai. The promise is collected with the call.
    return new Promise(() => {});
  },
  { preconnect: fetch.preconnect },
);

/** Runs `call`, which must put the headers on its request; resolves to the answer of `send`. */
async function lendFetch(
  send: Exchange["send"],
  call: (headers: Readonly<Record<string, string>>) => Promise<unknown>,
): Promise<Response> {
  serial += 1;
  const id = String(serial);
  if (lent.size === 0) {
    original = globalThis.fetch;
    globalThis.fetch = dispatch;
  }
  try {
    return await new Promise((resolve, reject) => {
      lent.set(id, (url, init) => resolve(send(url, init)));
      call({ [mark]: id }).catch(reject);
    });
  } finally {
    lent.delete(id);
    if (lent.size === 0 && original !== null) globalThis.fetch = original;
  }
}

type Content = { readonly role: "user" | "model"; readonly parts: readonly Part[] };

/** From Gemini 3 on calls have ids and signatures, and may be refused without. A name without a version is the newest. */
const signsCalls = (model: string): boolean => !/^(models\/)?(gemini-[12]|gemma)/.test(model);

/** `model`: the bare name. A reply of the same model is sent back whole, so that its thought signatures survive. */
export function encodeGemini(model: string, request: ModelRequest): Part {
  const { system, tools, format } = request;
  return {
    contents: encodeMessages(model, request.messages),
    ...(system === "" ? {} : { systemInstruction: { role: "system", parts: [{ text: system }] } }),
    ...(tools.length === 0
      ? {}
      : {
          tools: [{ functionDeclarations: tools.map(encodeTool) }],
          toolConfig: { functionCallingConfig: { mode: request.toolChoice === "none" ? "NONE" : "AUTO" } },
        }),
    generationConfig: {
      ...(request.temperature === null ? {} : { temperature: request.temperature }),
      maxOutputTokens: request.maxOutputTokens,
      ...(format === null ? {} : { responseMimeType: "application/json", responseJsonSchema: format.schema }),
    },
  };
}

function encodeTool({ name, description, schema }: Tool): Part {
  const bare = Object.keys(fields(fields(schema)["properties"])).length === 0;
  return { name, description, ...(bare ? {} : { parametersJsonSchema: withoutDialect(schema) }) };
}

function encodeMessages(model: string, messages: readonly Message[]): readonly Content[] {
  const contents = messages.map((message) => encodeMessage(model, message)).filter(({ parts }) => parts.length > 0);
  if (!messages.some(({ role }) => role === "tools")) return contents;
  const calledIds = new Set(
    contents.flatMap(({ parts }) => parts.map((part) => textIn(fields(part["functionCall"])["id"]))),
  );
  return contents.map(({ role, parts }) => ({ role, parts: parts.map((part) => withoutUncalledId(part, calledIds)) }));
}

function encodeMessage(model: string, message: Message): Content {
  switch (message.role) {
    case "user":
      return { role: "user", parts: [{ text: message.text }] };
    case "tools":
      return {
        role: "user",
        parts: message.results.map(({ id, name, ok, text: said }) => ({
          functionResponse: { id, name, response: ok ? { output: said } : { error: said } },
        })),
      };
    case "assistant":
      return { role: "model", parts: encodeReply(model, message) };
  }
}

function encodeReply(model: string, message: Extract<Message, { role: "assistant" }>): readonly Part[] {
  const own = message.native?.model === model ? listIn(fields(message.native.content)["parts"]) : [];
  if (own.length > 0) return own as readonly Part[];
  const isSigned = signsCalls(model);
  const signed = isSigned ? { thoughtSignature: foreignSignature } : {};
  return [
    ...(message.text === "" ? [] : [{ text: message.text }]),
    ...message.calls.map(({ id, name, input }) => ({
      functionCall: { ...(isSigned ? { id } : {}), name, args: input },
      ...signed,
    })),
  ];
}

/** Removes a call id from a result, unless its call has it: Gemini before 3 gives none. */
function withoutUncalledId(part: Part, calledIds: ReadonlySet<string>): Part {
  const answer = fields(part["functionResponse"]) as Part;
  if (!("id" in answer) || calledIds.has(textIn(answer["id"]))) return part;
  return { functionResponse: Object.fromEntries(Object.entries(answer).filter(([key]) => key !== "id")) };
}

const refusals = new Set([
  "SAFETY",
  "RECITATION",
  "PROHIBITED_CONTENT",
  "BLOCKLIST",
  "SPII",
  "LANGUAGE",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION",
]);
const malformed = new Set([
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MISSING_THOUGHT_SIGNATURE",
]);
/** Finish reasons of a reply that was cut (OTHER is one): what it left unfinished must not count as finished. */
const cuts = new Set(["MAX_TOKENS", "LENGTH", "OTHER"]);

function createGeminiDecoder(model: string, turn: number): Decoder {
  const tally = createReplyTally(model, turn);
  const parts: Record<string, unknown>[] = [];
  const usage: Record<string, unknown> = {};
  /** Text that arrived in one piece of the wire becomes one event. */
  let arrived = "";
  let served = model;
  let finish = "";

  function readText(): void {
    if (arrived === "") return;
    remember(parts, { text: arrived });
    tally.text(arrived);
    arrived = "";
  }

  function readPart(part: WireFields): void {
    if (typeof part["text"] === "string" && Object.keys(part).length === 1) {
      arrived += part["text"];
      return;
    }
    readText();
    remember(parts, part);
    if (part["functionCall"] !== undefined) {
      const { id, name, args } = fields(part["functionCall"]);
      if (textIn(name) !== "") tally.call(textIn(id), textIn(name), args);
    }
    if (part["thought"] === true) tally.thought(textIn(part["text"]));
    else tally.text(textIn(part["text"]));
  }

  function readFinish({ finishReason, finishMessage }: WireFields): void {
    finish = textIn(finishReason).toUpperCase();
    if (refusals.has(finish)) throw refused(`to go on (${finish})`, textIn(finishMessage));
    if (malformed.has(finish)) throw unusable(model, finish);
  }

  function readBlock({ blockReason, blockReasonMessage }: WireFields): void {
    if (textIn(blockReason) !== "") throw refused(`the request (${textIn(blockReason)})`, textIn(blockReasonMessage));
  }

  return {
    read(chunk) {
      const { candidates, promptFeedback, usageMetadata, modelVersion } = fields(chunk);
      Object.assign(usage, fields(usageMetadata));
      served = textIn(modelVersion) || served;
      if (promptFeedback !== undefined) readBlock(fields(promptFeedback));
      const candidate = fields(listIn(candidates)[0]);
      for (const part of listIn(fields(candidate["content"])["parts"])) readPart(fields(part));
      if (textIn(candidate["finishReason"]) !== "") readFinish(candidate);
    },
    take() {
      readText();
      return tally.take();
    },
    finished: () => finish !== "",
    end(key) {
      return {
        type: "done",
        stop: tally.stop(finish !== "", cuts.has(finish)),
        usage: readUsage(usage),
        served,
        key,
        native: { model, content: { role: "model", parts: parts as Json[] } },
      };
    },
  };
}

function readUsage(usage: WireFields): Usage {
  const thought = count(usage["thoughtsTokenCount"]);
  return {
    input: count(usage["promptTokenCount"]) + count(usage["toolUsePromptTokenCount"]),
    cached: count(usage["cachedContentTokenCount"]),
    output: count(usage["candidatesTokenCount"]) + thought,
    thought,
  };
}

/** Keeps a part to send it back later; plain text is joined, a part with a signature stays as it is. */
function remember(parts: Record<string, unknown>[], part: WireFields): void {
  const last = parts.at(-1);
  if (last !== undefined && isPlain(last) && isPlain(part) && last["thought"] === part["thought"])
    last["text"] = textIn(last["text"]) + textIn(part["text"]);
  else if (Object.keys(part).length > 0) parts.push({ ...part });
}

const isPlain = (part: WireFields) => typeof part["text"] === "string" && part["thoughtSignature"] === undefined;
