/** The published shapes of `--json` and `--jsonl` as zod, for `pai schema` and for tests that check every output. */
import * as z from "zod/mini";
import { exitCodes } from "./error.ts";
import { planSchema } from "./plan/parse-plan.ts";

const count = z.int().check(z.nonnegative());
const digest = z.nullable(z.string().check(z.regex(/^[0-9a-f]{64}$/)));

const change = z.object({
  path: z.string(),
  op: z.enum(["create", "modify", "delete", "move", "mkdir"]),
  from: z.nullable(z.string()),
  added: count,
  deleted: count,
  before: digest,
  after: digest,
  by: z.enum(["plan", "command"]),
});

const check = z.object({
  command: z.string(),
  by: z.enum(["user", "plan"]),
  exit: z.nullable(z.int()),
  ms: z.number().check(z.nonnegative()),
  passed: z.nullable(z.boolean()),
  note: z.optional(z.string()),
});

const amendment = z.object({
  action: z.string(),
  path: z.string(),
  destination: z.nullable(z.string()),
  why: z.string(),
  accept: z.boolean(),
  by: z.enum(["user", "policy"]),
  implicit: z.optional(z.literal(true)),
});

const refused = z.object({ action: z.string(), target: z.string(), why: z.string() });

const command = z.object({
  command: z.string(),
  exit: z.nullable(z.int()),
  ms: z.number().check(z.nonnegative()),
  ended: z.enum(["exit", "timeout", "signal"]),
});

const usage = z.object({ input: count, cached: count, written: z.optional(count), output: count, thought: count });
const failure = z.object({
  code: z.enum(Object.keys(exitCodes) as [keyof typeof exitCodes]),
  message: z.string(),
  hint: z.nullable(z.string()),
  retry_after: z.nullable(z.number()),
});
const money = z.nullable(z.number().check(z.nonnegative()));

/** How a run ended: the outcome in `run.finished`, and most of the run's document. */
export const outcomeSchema = z.object({
  v: z.literal(2),
  ok: z.boolean(),
  command: z.string(),
  run: z.nullable(z.string()),
  mode: z.string(),
  status: z.enum(["answered", "verified", "unverified", "partial", "declined", "failed", "interrupted"]),
  code: z.int(),
  text: z.string(),
  claimed: z.optional(z.string()),
  next: z.array(z.string()),
  plan: z.nullable(planSchema),
  changes: z.array(change),
  diff: z.string(),
  checks: z.array(check),
  calls: z.object({ made: count, sent: z.optional(count), expected: count, at_most: count }),
  usage: z.object({ ...usage.shape, weighed: z.optional(count) }),
  cost: money,
  model: z.object({ requested: z.string(), served: z.array(z.string()), key: z.nullable(z.string()) }),
  score: z.nullable(z.number()),
  ms: z.number().check(z.nonnegative()),
  actions: z.object({ done: count, failed: count, refused: count }),
  looks: count,
  amended: z.array(amendment),
  refused: z.array(refused),
  sandbox: z.nullable(z.enum(["full", "writes", "off"])),
  stays: z.optional(z.object({ count, paths: z.array(z.string()) })),
  merged: z.optional(z.array(z.string())),
  // biome-ignore lint/suspicious/noThenProperty: the name is a contract, and its value no function
  then: z.optional(z.array(z.object({ command: z.string(), exit: z.nullable(z.int()), ms: count }))),
  commit: z.optional(z.string()),
  planned: z.optional(z.literal(true)),
  unsettled: z.optional(z.array(z.string())),
  undone: z.optional(z.array(refused)),
  rolled_back: z.optional(z.object({ diff: z.string(), paths: z.array(z.string()) })),
  proves: z.optional(z.enum(["change", "no_regression"])),
  skipped: z.optional(z.array(z.object({ target: z.string(), why: z.string() }))),
  commands: z.optional(z.array(command)),
  error: z.nullable(failure),
});

const notice = { level: z.enum(["info", "warning"]), code: z.string(), text: z.string() };
const notices = z
  .array(z.object(notice))
  .check(z.describe("notices and warnings beside the result, in their order; --jsonl has them as events `notice`"));

/** The document of a run: `pai run|plan|apply --json`. */
export const documentSchema = z.extend(outcomeSchema, { notices });

/** The document of every other command. */
export const commandSchema = z.object({
  v: z.literal(1),
  ok: z.boolean(),
  command: z.string(),
  code: z.int(),
  data: z.unknown(),
  notices,
  error: z.nullable(failure),
});

const stamp = { run: z.string(), seq: z.int().check(z.positive()), at: z.iso.datetime({ offset: true }) };
const event = <T extends string, S extends z.core.$ZodShape>(type: T, shape: S) =>
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
    promise: z.object({
      expected: count,
      at_most: count,
      tokens: z.nullable(count),
      weighed: z.optional(count),
      cost: money,
    }),
    cached: z.boolean(),
    at_once: z.optional(z.literal(true)),
    guides: z.optional(z.array(z.string())),
    permitted: z.optional(z.array(z.object({ command: z.string(), pattern: z.string() }))),
    concerns: z.optional(z.array(z.object({ path: z.string(), why: z.string() }))),
  }),
  event("plan.amended", amendment.shape),
  event("memory.kept", { facts: z.array(z.object({ id: z.string(), text: z.string(), pending: z.boolean() })) }),
  event("model.started", {
    n: count,
    purpose: z.string(),
    model: z.string(),
    estimate: count,
    at_most: z.optional(count),
  }),
  event("model.delta", { n: count, channel: z.enum(["text", "thought", "reply"]), text: z.string() }),
  event("model.finished", {
    n: count,
    stop: z.enum(["end", "calls", "length", "refused", "failed"]),
    usage,
    served: z.string(),
    key: z.nullable(z.string()),
    ms: z.number().check(z.nonnegative()),
  }),
  event("phase.started", { phase: count, of: count }),
  event("step.started", { step: count, of: count, title: z.string(), text: z.string() }),
  event("call.started", call),
  event("call.finished", { ...call, ok: z.boolean(), text: z.string() }),
  event("changes.proposed", {
    ...changes,
    diff: z.string(),
    asked: z.optional(z.literal(true)),
    seen: z.optional(z.boolean()),
  }),
  event("changes.decided", { ...changes, accept: z.boolean(), by: z.enum(["user", "policy"]) }),
  event("changes.applied", changes),
  event("changes.rolled_back", changes),
  event("check.started", { when: z.enum(["before", "after"]), command: z.string(), by: z.enum(["user", "plan"]) }),
  event("check.finished", {
    when: z.enum(["before", "after"]),
    output: z.string(),
    ...check.shape,
    note: z.string(),
  }),
  event("budget.updated", { calls: count, tokens: count, cost: money }),
  event("notice", {
    ...notice,
    wait: z
      .optional(
        z.object({
          why: z.string(),
          seconds: z.number().check(z.nonnegative()),
          attempt: z.int().check(z.positive()),
          of: z.int().check(z.positive()),
        }),
      )
      .check(z.describe("with code waiting: the pause that begins now, before repetition `attempt` of at most `of`")),
  }),
  event("tasks.updated", {
    tasks: z.array(
      z.object({
        id: count,
        content: z.string(),
        description: z.string(),
        active_form: z.nullable(z.string()),
        status: z.enum(["pending", "in_progress", "completed"]),
      }),
    ),
  }),
  event("run.finished", { outcome: outcomeSchema }),
]);

/**
 * JSON Schema (draft 2020-12) of what users read and write. Fields may be added: readers must ignore those they do not
 * know (R03).
 */
export function describe(name: "plan" | "json" | "jsonl"): unknown {
  const schema = { plan: planSchema, json: z.union([documentSchema, commandSchema]), jsonl: eventSchema }[name];
  return z.toJSONSchema(schema, {
    io: "output",
    reused: "inline",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      delete jsonSchema.additionalProperties;
    },
  });
}
