/** The lines of a session's file. Pure. */
import * as z from "zod/mini";
import type { Message } from "../model.ts";
import { taskSchema } from "./conversation.ts";

const text = z.string();
const count = z.int().check(z.nonnegative());
const call = z.object({ id: text, name: text, input: z.json() });
const result = z.object({ id: text, name: text, ok: z.boolean(), text });
const native = z.object({ model: text, content: z.json() });
const message: z.ZodMiniType<Message> = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), text }),
  z.object({ role: z.literal("assistant"), text, calls: z.array(call), native: z.nullable(native) }),
  z.object({ role: z.literal("tools"), results: z.array(result) }),
]);

const schema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("session.started"), v: z.literal(1), id: text, at: text, root: text }),
  z.object({ type: z.literal("turn.started"), at: text, run: text, mode: text, model: text, request: text }),
  z.object({ type: z.literal("message.added"), message }),
  z.object({ type: z.literal("conversation.replaced"), messages: z.readonly(z.array(message)) }),
  z.object({ type: z.literal("files.known"), files: z.record(text, text) }),
  z.object({ type: z.literal("tasks.updated"), tasks: z.readonly(z.array(taskSchema)) }),
  z.object({
    type: z.literal("turn.finished"),
    at: text,
    run: text,
    /** How the run worked; of `auto` what it chose. */
    mode: text,
    status: text,
    /** These five are the `TurnRecord`. */
    text,
    isClaim: z.optional(z.boolean()),
    became: text,
    diff: text,
    printed: z.optional(text),
    next: z.readonly(z.array(text)),
    score: z.nullable(z.number()),
    calls: count,
    /** The run changed files, so rewinding the code has something to undo. */
    changed: z.boolean(),
  }),
  z.object({ type: z.literal("turn.saw"), at: text, run: text, files: z.record(text, z.nullable(text)) }),
  z.object({
    type: z.literal("session.noted"),
    at: text,
    what: z.enum(["command", "reversal", "end", "found"]),
    run: z.nullable(text),
    text,
  }),
  /** The user keeps from the model what their own commands printed, as far as no request has told it. */
  z.object({ type: z.literal("session.withheld"), at: text }),
  /** The user took back what the run had changed, or brought it back, each but for the paths that are `missing`. */
  z.object({
    type: z.literal("turn.reversed"),
    at: text,
    run: text,
    undone: z.boolean(),
    missing: z.optional(z.readonly(z.array(text))),
  }),
  /** The user went back to the first `turns` turns, or cleared everything (0); later turns are forgotten. */
  z.object({ type: z.literal("session.rewound"), at: text, turns: count }),
  /** A summary replaces turn `from` (counted from 1) and all later ones. */
  z.object({ type: z.literal("session.summarized"), at: text, from: count, summary: text }),
]);

/** One line of a session file. Times are ISO 8601. */
export type SessionLine = z.infer<typeof schema>;

/** Throws for text that is not a line of a session. */
export const parseLine = (text: string): SessionLine => z.parse(schema, JSON.parse(text));
