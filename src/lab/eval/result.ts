/** The result of one candidate on one task, as it is kept: one JSON line each. Pure. */

import * as z from "zod/mini";
import { orNull } from "../../core/error.ts";

const count = z.nullable(z.number());

const resultSchema = z.object({
  v: z.literal(1),
  /** Hash of task, candidate, repeat and pai's version; a result that exists is not computed again. */
  key: z.string(),
  task: z.string(),
  model: z.string(),
  mode: z.string(),
  repeat: z.number(),
  /** The hidden check passed, and the candidate touched nothing that it uses. */
  passed: z.boolean(),
  tampered: z.array(z.string()),
  /** The status of pai's run; null: a control, or no outcome. */
  status: z.nullable(z.string()),
  code: count,
  /** pai said "verified" and the hidden check failed. */
  false_verified: z.boolean(),
  promise_kept: z.nullable(z.boolean()),
  calls: count,
  tokens: count,
  cost: count,
  ms: z.number(),
  actions: count,
  added: count,
  deleted: count,
  /** Actions that were refused, for their path or for another reason. */
  refused: count,
  check: z.object({ exit: count, ms: z.number(), output: z.string() }),
  served: z.array(z.string()),
  pai: z.string(),
  error: z.nullable(z.string()),
});

export type EvalResult = z.infer<typeof resultSchema>;

/** Reads a file of JSON lines; invalid lines are skipped, and of several results with one key the last counts. */
export function readResults(text: string): readonly EvalResult[] {
  const found = new Map<string, EvalResult>();
  for (const line of text.split("\n")) {
    const json: unknown = orNull(() => JSON.parse(line));
    const result = z.safeParse(resultSchema, json);
    if (result.success) found.set(result.data.key, result.data);
  }
  return [...found.values()];
}
