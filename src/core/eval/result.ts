/** The result of one candidate on one task, as it is kept: one JSON line each. Pure. */
import * as z from "zod/mini";

const count = z.nullable(z.number());

export const resultSchema = z.object({
  v: z.literal(1),
  /** Hash of task, candidate, repeat and pai: the same work is not done twice. */
  key: z.string(),
  task: z.string(),
  model: z.string(),
  mode: z.string(),
  repeat: z.number(),
  /** The hidden check passed, and nothing that it uses was touched. */
  passed: z.boolean(),
  /** Hidden paths that the candidate wrote. */
  tampered: z.array(z.string()),
  /** What pai says of its run; null: a control, or no outcome. */
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
  /** Actions that were refused for their path or otherwise. */
  refused: count,
  check: z.object({ exit: count, ms: z.number(), output: z.string() }),
  served: z.array(z.string()),
  pai: z.string(),
  error: z.nullable(z.string()),
});

export type Result = z.infer<typeof resultSchema>;

/** The results of a file of JSON lines; other lines are skipped, and the last one of a key counts. */
export function readResults(text: string): readonly Result[] {
  const found = new Map<string, Result>();
  for (const line of text.split("\n")) {
    let json: unknown = null;
    try {
      json = JSON.parse(line);
    } catch {}
    const result = z.safeParse(resultSchema, json);
    if (result.success) found.set(result.data.key, result.data);
  }
  return [...found.values()];
}
