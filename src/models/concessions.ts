/** What servers refuse of a request, in their own words, and how they are asked again: one row each. */
import { PaiError } from "../core/error.ts";
import { type Fields as Body, isFields, type ModelRequest } from "../core/model.ts";
import type { Notice } from "../core/question.ts";
import { wordsOf } from "./wire/http-errors.ts";

/** What one refusal taught. */
interface Lesson {
  /** Messages of the request that was refused. */
  readonly messages: number;
}

/** How a request is made without what was refused: in its own terms, in those of the body, or in both. */
interface Concession {
  /** The words in which servers refuse it. */
  readonly refused: RegExp;
  /** What follows the model's name in the notice. */
  readonly told: string;
  readonly request?: (request: ModelRequest, lesson: Lesson) => ModelRequest;
  /** Fields that leave the body, on whatever wire; a dot leads into an object. */
  readonly fields?: readonly string[];
}

/** Applied in this order. */
const concessions: readonly Concession[] = [
  {
    refused: /temperature/i,
    told: "takes no temperature: asked without it",
    fields: ["temperature", "options.temperature", "generationConfig.temperature"],
  },
  {
    refused:
      /output_config|output_format|response_format|response_?schema|response_?mime_?type|text\.format|json_schema|json (schema|mode)|structured output|grammar/i,
    told: "takes no JSON schema: asked without it",
    request: putSchemaInWords,
  },
  {
    refused: /stream_options/i,
    told: "takes no count of tokens in its stream: asked without it",
    fields: ["stream_options"],
  },
  {
    refused: /\binclude\b|encrypted[ _]content is not supported/i,
    told: "sends no reasoning along: asked without it",
    fields: ["include"],
  },
  {
    refused: /encrypted|signature|thinking.*\bblock/i,
    told: "takes no reasoning of earlier replies: asked without it",
    request: leaveOutReasoning,
  },
];

/** What was conceded to one model so far. */
export interface Concessions {
  /** The body of a request, without what was refused before. */
  encode(request: ModelRequest, encode: (request: ModelRequest) => Body): Body;
  /** Whether a failure is a refusal that a concession answers; it is then told, and made from now on. */
  learn(failed: unknown, request: ModelRequest, encode: (request: ModelRequest) => Body): boolean;
}

/** For all requests to one model, with whatever key. */
export function createConcessions(model: string, notify: (notice: Notice) => void): Concessions {
  let learned: ReadonlyMap<Concession, Lesson> = new Map();
  return {
    encode: (request, encode) => concede(request, encode, learned),
    learn(failed, request, encode) {
      if (!(failed instanceof PaiError) || failed.code !== "request_rejected") return false;
      const sent = concede(request, encode, learned);
      const words = wordsOf(failed);
      for (const row of concessions.filter(({ refused }) => refused.test(words))) {
        const more = new Map(learned).set(row, { messages: request.messages.length });
        if (Bun.deepEquals(concede(request, encode, more), sent)) continue;
        learned = more;
        notify({ level: "info", code: "conceded", text: `${model} ${row.told}` });
        return true;
      }
      return false;
    },
  };
}

function concede(
  request: ModelRequest,
  encode: (request: ModelRequest) => Body,
  learned: ReadonlyMap<Concession, Lesson>,
): Body {
  const rows = concessions.flatMap((row) => {
    const lesson = learned.get(row);
    return lesson === undefined ? [] : [{ ...row, lesson }];
  });
  const asked = rows.reduce((made, { request: change, lesson }) => change?.(made, lesson) ?? made, request);
  return rows.flatMap(({ fields = [] }) => fields).reduce(withoutField, encode(asked));
}

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

/** Only what was refused goes: the reasoning of later replies belongs to the conversation as it is now. */
function leaveOutReasoning(request: ModelRequest, { messages }: Lesson): ModelRequest {
  const withoutNative = request.messages.map((message, at) =>
    at < messages && message.role === "assistant" ? { ...message, native: null } : message,
  );
  return { ...request, messages: withoutNative };
}
