/** Drops request options that a server refuses by name, and asks again without them. */
import { PaiError } from "../core/error.ts";
import type { ModelRequest } from "../core/model.ts";
import type { Notice } from "../core/question.ts";
import { type Stream, tryUntilBegun } from "./stream.ts";

export type Extra = "temperature" | "format" | "reasoning" | "usage";
export type Without = ReadonlySet<Extra>;

const extras: Readonly<Record<Extra, { readonly named: RegExp; readonly what: string }>> = {
  temperature: { named: /temperature/i, what: "temperature" },
  format: {
    named:
      /output_config|output_format|response_format|text\.format|json_schema|json schema|structured output|grammar/i,
    what: "JSON schema",
  },
  usage: { named: /stream_options/i, what: "count of tokens in its stream" },
  reasoning: { named: /encrypted|\binclude\b|thinking.*\bblock/i, what: "reasoning of earlier replies" },
};

/**
 * Returns a function that makes a stream out of `open`, which opens a request without some options. An option that was
 * refused once is omitted from then on, in all streams made by that function.
 */
export function dropRejectedOptions({
  model,
  notify,
  omitted = [],
}: {
  readonly model: string;
  readonly notify: (notice: Notice) => void;
  /** Options that are known to be refused, and never sent. */
  readonly omitted?: readonly Extra[];
}): (open: (without: Without) => Stream) => Stream {
  const without = new Set<Extra>(omitted);
  return (open) => (request, signal) =>
    tryUntilBegun((failed) => {
      if (failed !== null) {
        const extra = findRefused(failed, request, without);
        if (extra === null) throw failed;
        without.add(extra);
        const text = `${model} takes no ${extras[extra].what}: asked without it`;
        notify({ level: "info", code: "conceded", text });
      }
      return open(without)(without.has("format") ? tellSchema(request) : request, signal);
    });
}

/** Puts the schema into the instructions: the server does not enforce it, but the model can read it. */
function tellSchema(request: ModelRequest): ModelRequest {
  if (request.format === null) return request;
  return { ...request, system: `${request.system}\nIts JSON Schema:\n${JSON.stringify(request.format.schema)}` };
}

function findRefused(thrown: unknown, { format }: ModelRequest, without: Without): Extra | null {
  if (!(thrown instanceof PaiError) || thrown.code !== "request_rejected") return null;
  const left = (Object.keys(extras) as Extra[]).filter((extra) => !without.has(extra));
  const sent = left.filter((extra) => extra !== "format" || format !== null);
  return sent.find((extra) => extras[extra].named.test(thrown.message)) ?? null;
}
