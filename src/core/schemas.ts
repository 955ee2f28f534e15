/** The published shapes of `--json` and `--jsonl` as zod: types, `pai schema`, and tests of every output come from them. */
import * as z from "zod/mini";
import { exitCodes } from "./error.ts";
import type { Purpose } from "./model.ts";
import { planSchema } from "./plan/plan.ts";
import { taskSchema } from "./session/conversation.ts";

const count = z.int().check(z.nonnegative());
const digest = z.nullable(z.string().check(z.regex(/^[0-9a-f]{64}$/)));

export const changeSchema = z.object({
  path: z.string(),
  op: z.enum(["create", "modify", "delete", "move", "mkdir"]),
  from: z.nullable(z.string()),
  added: count,
  deleted: count,
  /** sha256 of the bytes, hex; null where there is no file before or after. Of a move: the content at `from`. */
  before: digest,
  after: digest,
  by: z.enum(["plan", "command"]),
});

export const checkSchema = z.object({
  command: z.string(),
  by: z.enum(["user", "plan"]),
  exit: z.nullable(z.int()),
  ms: z.number().check(z.nonnegative()),
  passed: z.nullable(z.boolean()),
  /** How its result compares to the one before the work, or why it says nothing; absent or "": nothing to say. */
  note: z.optional(z.string()),
});

/** A right that a running script asked for beyond its plan, and how that was decided. */
export const amendmentSchema = z.object({
  action: z.string(),
  path: z.string(),
  /** Where a move or copy goes; null for every other action. */
  destination: z.nullable(z.string()),
  why: z.string(),
  accept: z.boolean(),
  by: z.enum(["user", "policy"]),
  /** The last reply did it without asking; absent: it asked. */
  implicit: z.optional(z.literal(true)),
});

export const refusedSchema = z.object({ action: z.string(), target: z.string(), why: z.string() });

export const commandRunSchema = z.object({
  command: z.string(),
  exit: z.nullable(z.int()),
  ms: z.number().check(z.nonnegative()),
  ended: z.enum(["exit", "timeout", "signal"]),
  /** Nothing that it changed was kept; absent: all of it was, or it changed nothing. */
  kept: z.optional(z.literal(false)),
});

const purpose: z.ZodMiniType<Purpose> = z.string() as never;
const usage = z.object({ input: count, cached: count, written: z.optional(count), output: count, thought: count });
const failure = z.object({
  code: z.enum(Object.keys(exitCodes) as [keyof typeof exitCodes]),
  message: z.string(),
  hint: z.nullable(z.string()),
  retry_after: z.nullable(z.number()),
});
const money = z.nullable(z.number().check(z.nonnegative()));

/** The promise of a run: its calls, and what the whole of it will send and receive. */
export const promiseSchema = z.object({
  expected: count,
  at_most: count,
  tokens: z.nullable(count),
  /** The same with the repeated beginnings weighed as a cache bills them (`weighedOf`); a cache may miss. Absent: in older records. */
  weighed: z.optional(count),
  cost: money,
});

/** How a run ended: the outcome in `run.finished`, and most of the run's document. */
export const outcomeSchema = z.object({
  v: z.literal(2),
  ok: z.boolean(),
  command: z.string(),
  run: z.nullable(z.string()),
  mode: z.string(),
  /** `partial`: planned steps are open, and what was done is kept all the same. */
  status: z.enum(["answered", "verified", "unverified", "partial", "declined", "failed", "interrupted"]),
  code: z.int(),
  text: z.string(),
  /** The model's message, where `text` is pai's own; absent: it is not. */
  claimed: z.optional(z.string()),
  next: z.array(z.string()),
  plan: z.nullable(planSchema),
  changes: z.array(changeSchema),
  dry_run: z.optional(z.literal(true)),
  diff: z.string(),
  checks: z.array(checkSchema),
  calls: z.object({ made: count, sent: z.optional(count), expected: count, at_most: count }),
  /** `weighed`: see `weighedOf`; absent in older records. */
  usage: z.object({ ...usage.shape, weighed: z.optional(count) }),
  cost: money,
  model: z.object({ requested: z.string(), served: z.array(z.string()), key: z.nullable(z.string()) }),
  score: z.nullable(z.number()),
  /** Wall time of the run, without the time that questions waited for answers. */
  ms: z.number().check(z.nonnegative()),
  /** How many actions were done, failed, or were refused by a rule or a person. */
  actions: z.object({ done: count, failed: count, refused: count }),
  looks: count,
  amended: z.array(amendmentSchema),
  /** Refused and failed actions that no later one made up for. */
  refused: z.array(refusedSchema),
  /** The sandbox that commands ran in; null: no command ran. */
  sandbox: z.nullable(z.enum(["full", "writes", "off"])),
  /** Ignored paths that commands changed and no rollback or undo restores; `paths` names some; absent: none. */
  stays: z.optional(z.object({ count, paths: z.array(z.string()) })),
  /** Changed files that somebody else changed meanwhile, too; absent: none. */
  merged: z.optional(z.array(z.string())),
  overwritten: z.optional(z.array(z.string())),
  /** Paths in which nothing is left of what the run had changed by then: taken back or deleted by others; absent: none. */
  lost: z.optional(z.array(z.string())),
  /** Of the paths that the run itself changed those that changed while the user's checks ran, too; absent: none. */
  checked: z.optional(z.array(z.string())),
  // biome-ignore lint/suspicious/noThenProperty: the name is a contract, and its value no function
  then: z.optional(z.array(z.object({ command: z.string(), exit: z.nullable(z.int()), ms: count }))),
  commit: z.optional(z.string()),
  /** The run was only to make a plan, and made one; absent: it was not, or it answered. */
  planned: z.optional(z.literal(true)),
  /** Paths that changed each time the checks ran, so that none judged what is there now; absent: none. */
  unsettled: z.optional(z.array(z.string())),
  /** Planned steps that are not done, while the rest is kept; absent: none. */
  undone: z.optional(z.array(refusedSchema)),
  rolled_back: z.optional(
    z.object({ diff: z.string(), paths: z.array(z.string()), by: z.optional(z.literal("others")) }),
  ),
  /** What the green checks prove: the change itself, or only that nothing broke, as no test was added; absent: unknown, or not verified. */
  proves: z.optional(z.enum(["change", "no_regression"])),
  skipped: z.optional(z.array(z.object({ target: z.string(), why: z.string() }))),
  /** What the person said to a plan or a diff, which was then made anew, in their order; absent: nothing. */
  corrections: z.optional(z.array(z.object({ about: z.enum(["plan", "changes"]), words: z.string() }))),
  /** What the person said no to when they were shown it, and agreed to at no later time; absent: nothing. */
  declined: z.optional(z.object({ diff: z.string(), paths: z.array(z.string()) })),
  /** What the person said when asked whether the changes of a failed run stay; absent: nobody was asked. */
  keep: z.optional(z.boolean()),
  /** Paths of `changes` that a rollback did not take back, as somebody else had changed them; absent: none. */
  left: z.optional(z.array(z.string())),
  commands: z.optional(z.array(commandRunSchema)),
  error: z.nullable(failure),
});

const notice = { level: z.enum(["info", "warning"]), code: z.string(), text: z.string() };
const notices = z
  .array(z.object(notice))
  .check(z.describe("notices and warnings beside the result, in their order; --jsonl has them as events `notice`"));

/** The document of a run: `pai run|plan|apply --json`. */
export const documentSchema = z.extend(outcomeSchema, { notices });

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
const changes = { batch: count, changes: z.array(changeSchema) };
const call = { id: z.string(), action: z.string(), target: z.string() };

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
    promise: promiseSchema,
    cached: z.boolean(),
    /** The work came with the plan: it is its script. */
    at_once: z.optional(z.literal(true)),
    guides: z.optional(z.array(z.string())),
    permitted: z.optional(z.array(z.object({ command: z.string(), pattern: z.string() }))),
    concerns: z.optional(z.array(z.object({ path: z.string(), why: z.string() }))),
  }),
  event("plan.amended", amendmentSchema.shape),
  /** Facts that the run proposed; a pending one waits for `pai memory accept`. */
  event("memory.kept", { facts: z.array(z.object({ id: z.string(), text: z.string(), pending: z.boolean() })) }),
  event("model.started", {
    n: count,
    purpose,
    model: z.string(),
    estimate: count,
    /** The most calls that the run has promised so far. */
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
  /** One of the eight steps of eight-step. `text`: its result, or what it will do. */
  event("step.started", { step: count, of: count, title: z.string(), text: z.string() }),
  event("call.started", call),
  /** `text`: one line for people; never file content. */
  event("call.finished", { ...call, ok: z.boolean(), text: z.string() }),
  event("changes.proposed", {
    ...changes,
    diff: z.string(),
    /** A decision about this batch follows; absent: it was approved with the plan. */
    asked: z.optional(z.literal(true)),
    /** A person saw exactly this diff with the plan, and said yes to it. */
    seen: z.optional(z.boolean()),
  }),
  event("changes.decided", {
    ...changes,
    accept: z.boolean(),
    by: z.enum(["user", "policy"]),
    words: z.optional(z.string()),
  }),
  event("changes.applied", changes),
  event("changes.rolled_back", changes),
  event("check.started", { when: z.enum(["before", "after"]), command: z.string(), by: z.enum(["user", "plan"]) }),
  event("check.finished", {
    when: z.enum(["before", "after"]),
    output: z.string(),
    ...checkSchema.shape,
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
    tasks: z.array(taskSchema),
  }),
  event("run.finished", { outcome: outcomeSchema }),
]);

/** JSON Schema (draft 2020-12). Fields may be added: readers must ignore those they do not know (R03). */
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
