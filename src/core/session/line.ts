/** The lines of a session's file. Pure. */
import * as z from "zod/mini";
import type { Message } from "../model.ts";
import { taskSchema } from "./conversation.ts";

const count = z.int().check(z.nonnegative());
const call = z.object({ id: z.string(), name: z.string(), input: z.json() });
const result = z.object({ id: z.string(), name: z.string(), ok: z.boolean(), text: z.string() });
const native = z.object({ model: z.string(), content: z.json() });
const message: z.ZodMiniType<Message> = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), text: z.string() }),
  z.object({ role: z.literal("assistant"), text: z.string(), calls: z.array(call), native: z.nullable(native) }),
  z.object({ role: z.literal("tools"), results: z.array(result) }),
]);

const schema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("session.started"),
    v: z.literal(1),
    id: z.string(),
    at: z.string(),
    root: z.string(),
  }),
  z.object({
    type: z.literal("turn.started"),
    at: z.string(),
    run: z.string(),
    mode: z.string(),
    model: z.string(),
    request: z.string(),
  }),
  z.object({ type: z.literal("message.added"), message }),
  z.object({ type: z.literal("conversation.replaced"), messages: z.readonly(z.array(message)) }),
  z.object({ type: z.literal("files.known"), files: z.record(z.string(), z.string()) }),
  z.object({ type: z.literal("tasks.updated"), tasks: z.readonly(z.array(taskSchema)) }),
  z.object({
    type: z.literal("turn.finished"),
    at: z.string(),
    run: z.string(),
    /** How the run worked; of `auto` what it chose. */
    mode: z.string(),
    status: z.string(),
    /** These five are the `TurnRecord`. */
    text: z.string(),
    isClaim: z.optional(z.boolean()),
    became: z.string(),
    diff: z.string(),
    printed: z.optional(z.string()),
    next: z.readonly(z.array(z.string())),
    score: z.nullable(z.number()),
    calls: count,
    /** The run changed files, so rewinding the code has something to undo. */
    changed: z.boolean(),
  }),
  z.object({
    type: z.literal("turn.saw"),
    at: z.string(),
    run: z.string(),
    files: z.record(z.string(), z.nullable(z.string())),
  }),
  z.object({
    type: z.literal("session.noted"),
    at: z.string(),
    what: z.enum(["command", "reversal", "end", "found"]),
    run: z.nullable(z.string()),
    text: z.string(),
  }),
  /** The user keeps from the model what their own commands printed, as far as no request has told it. */
  z.object({ type: z.literal("session.withheld"), at: z.string() }),
  /** The user took back what the run had changed, or brought it back, each but for the paths that are `missing`. */
  z.object({
    type: z.literal("turn.reversed"),
    at: z.string(),
    run: z.string(),
    undone: z.boolean(),
    missing: z.optional(z.readonly(z.array(z.string()))),
  }),
  /** The user went back to the first `turns` turns, or cleared everything (0); later turns are forgotten. */
  z.object({ type: z.literal("session.rewound"), at: z.string(), turns: count }),
  /** A summary replaces turn `from` (counted from 1) and all later ones. */
  z.object({ type: z.literal("session.summarized"), at: z.string(), from: count, summary: z.string() }),
]);

/** One line of a session file. Times are ISO 8601. */
export type SessionLine = z.infer<typeof schema>;

/** Throws for text that is not a line of a session. */
export function parseLine(text: string): SessionLine {
  return z.parse(schema, JSON.parse(text));
}
