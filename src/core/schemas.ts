/** The published shapes of `--json` and `--jsonl` (spec 6.1, 6.2) as zod, for `pai schema` and for the tests that hold every output to them. */
import { z } from "zod";
import { exitCodes } from "./error.ts";
import { planSchema } from "./plan.ts";

const count = z.int().nonnegative();
const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .nullable();

const change = z.object({
  path: z.string(),
  op: z.enum(["create", "modify", "delete", "move", "mkdir"]),
  from: z.string().nullable(),
  added: count,
  deleted: count,
  before: digest,
  after: digest,
  by: z.enum(["plan", "command"]),
});

const check = z.object({
  command: z.string(),
  by: z.enum(["user", "plan"]),
  exit: z.int().nullable(),
  ms: z.number().nonnegative(),
  passed: z.boolean().nullable(),
});

const usage = z.object({ input: count, cached: count, output: count, thought: count });
const failure = z.object({
  code: z.enum(Object.keys(exitCodes) as [keyof typeof exitCodes]),
  message: z.string(),
  hint: z.string().nullable(),
  retry_after: z.number().nullable(),
});
const money = z.number().nonnegative().nullable();

/** The document of a run: `pai run|plan|apply --json`, and `run.finished`. */
export const outcomeSchema = z.object({
  v: z.literal(1),
  ok: z.boolean(),
  command: z.string(),
  run: z.string().nullable(),
  mode: z.string(),
  status: z.enum(["answered", "verified", "unverified", "declined", "failed", "interrupted"]),
  code: z.int(),
  text: z.string(),
  next: z.array(z.string()),
  plan: planSchema.nullable(),
  changes: z.array(change),
  diff: z.string(),
  checks: z.array(check),
  calls: z.object({ made: count, expected: count, at_most: count }),
  usage,
  cost: money,
  model: z.object({ requested: z.string(), served: z.array(z.string()), key: z.string().nullable() }),
  score: z.number().nullable(),
  error: failure.nullable(),
});

/** The document of every other command. */
export const commandSchema = z.object({
  v: z.literal(1),
  ok: z.boolean(),
  command: z.string(),
  code: z.int(),
  data: z.unknown(),
  error: failure.nullable(),
});

const stamp = { run: z.string(), seq: z.int().positive(), at: z.iso.datetime({ offset: true }) };
const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), ...stamp, ...shape });
const changes = { batch: count, changes: z.array(change) };
const call = { id: z.string(), action: z.string(), target: z.string() };

/** One line of `--jsonl`. */
export const eventSchema = z.discriminatedUnion("type", [
  event("run.started", {
    v: z.literal(1),
    pai: z.string(),
    task: z.string(),
    mode: z.string(),
    model: z.string(),
    root: z.string(),
  }),
  event("plan.ready", {
    plan: planSchema,
    promise: z.object({ expected: count, at_most: count, tokens: count.nullable(), cost: money }),
    cached: z.boolean(),
  }),
  event("model.started", { n: count, purpose: z.string(), model: z.string(), estimate: count }),
  event("model.delta", { n: count, channel: z.enum(["text", "thought", "reply"]), text: z.string() }),
  event("model.finished", {
    n: count,
    stop: z.enum(["end", "calls", "length", "refused", "failed"]),
    usage,
    served: z.string(),
    key: z.string().nullable(),
    ms: z.number().nonnegative(),
  }),
  event("phase.started", { phase: count, of: count }),
  event("step.started", { step: count, of: count, title: z.string(), text: z.string() }),
  event("call.started", call),
  event("call.finished", { ...call, ok: z.boolean(), text: z.string() }),
  event("changes.proposed", { ...changes, diff: z.string() }),
  event("changes.decided", { ...changes, accept: z.boolean(), by: z.enum(["user", "policy"]) }),
  event("changes.applied", changes),
  event("changes.rolled_back", changes),
  event("check.finished", { when: z.enum(["before", "after"]), output: z.string(), ...check.shape }),
  event("budget.updated", { calls: count, tokens: count, cost: money }),
  event("notice", {
    level: z.enum(["info", "warning"]),
    code: z.string(),
    text: z.string(),
    wait: z
      .object({
        why: z.string(),
        seconds: z.number().nonnegative(),
        attempt: z.int().positive(),
        of: z.int().positive(),
      })
      .optional()
      .describe("with code waiting: the pause that begins now, before repetition `attempt` of at most `of`"),
  }),
  event("tasks.updated", {
    tasks: z.array(
      z.object({
        id: count,
        content: z.string(),
        description: z.string(),
        active_form: z.string().nullable(),
        status: z.enum(["pending", "in_progress", "completed"]),
      }),
    ),
  }),
  event("run.finished", { outcome: outcomeSchema }),
]);

/** JSON Schema (draft 2020-12) of what users read and write. */
export function describe(name: "plan" | "json" | "jsonl"): unknown {
  const schema = { plan: planSchema, json: z.union([outcomeSchema, commandSchema]), jsonl: eventSchema }[name];
  return z.toJSONSchema(schema, { io: "output", reused: "inline", unrepresentable: "any" });
}
