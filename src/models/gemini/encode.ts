/** Encodes a request of pai as the body of one streamGenerateContent request. */
import type { Json, Message, ModelRequest, Tool } from "../../core/model.ts";
import { fields, listIn, textIn } from "../wire/fields.ts";
import { foreignSignature } from "./foreign-signature.ts";
import { toGeminiSchema } from "./schema.ts";

type Part = Readonly<Record<string, Json>>;
type Content = {
  readonly role: "user" | "model";
  readonly parts: readonly Part[];
};

/**
 * Whether calls have ids and signatures, and may be refused without: from Gemini 3 on. A name without a version, as `gemini-flash-latest`,
 * means the newest model.
 */
const signsCalls = (model: string): boolean => !/^(models\/)?(gemini-[12]|gemma)/.test(model);

/** `model`: the bare name. A reply of the same model is sent back whole, so that its thought signatures survive. */
export function encodeGemini(model: string, request: ModelRequest): { readonly [key: string]: Json } {
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
      ...(format === null
        ? {}
        : { responseMimeType: "application/json", responseSchema: toGeminiSchema(format.schema) }),
    },
  };
}

function encodeTool({ name, description, schema }: Tool): Part {
  const bare = Object.keys(fields(fields(schema)["properties"])).length === 0;
  return { name, description, ...(bare ? {} : { parameters: toGeminiSchema(schema) }) };
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
