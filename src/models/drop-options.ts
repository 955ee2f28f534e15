/** What a request can do without: a server that refuses one of these by its name is asked again without it. */
import { PaiError } from "../core/error.ts";
import type { ModelRequest } from "../core/model.ts";
import type { Notice } from "../core/question.ts";
import { begin, type Stream } from "./stream.ts";

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
 * Makes streams out of `open`, which makes the stream of a request without some extras. What was refused once is
 * left out from then on, by all streams made here.
 */
export function createConcessions({
  model,
  notify,
}: {
  readonly model: string;
  readonly notify: (notice: Notice) => void;
}): (open: (without: Without) => Stream) => Stream {
  const without = new Set<Extra>();
  return (open) =>
    async function* (request, signal) {
      const attempt = async (): ReturnType<typeof begin> => {
        try {
          return await begin(open(without)(without.has("format") ? tellSchema(request) : request, signal));
        } catch (thrown) {
          const extra = findRefused(thrown, request, without);
          if (extra === null) throw thrown;
          without.add(extra);
          notify({
            level: "info",
            code: "conceded",
            text: `${model} takes no ${extras[extra].what}: asked without it`,
          });
          return attempt();
        }
      };
      yield* await attempt();
    };
}

/** A schema that nobody enforces can still be read. */
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
