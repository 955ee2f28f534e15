/** The shape of a session's lines: what is read from a file is checked before anything is built on it. */
import * as z from "zod/mini";
import { taskStatuses } from "./conversation.ts";
import type { SessionLine } from "./session.ts";

const count = z.int().check(z.nonnegative());
const call = z.object({ id: z.string(), name: z.string(), input: z.json() });
const result = z.object({ id: z.string(), name: z.string(), ok: z.boolean(), text: z.string() });
const native = z.object({ model: z.string(), content: z.json() });
const message = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), text: z.string() }),
  z.object({ role: z.literal("assistant"), text: z.string(), calls: z.array(call), native: z.nullable(native) }),
  z.object({ role: z.literal("tools"), results: z.array(result) }),
]);
const task = z.object({
  id: count,
  content: z.string(),
  description: z.string(),
  active_form: z.nullable(z.string()),
  status: z.enum(taskStatuses),
});

const schema: z.ZodMiniType<SessionLine> = z.discriminatedUnion("type", [
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
  z.object({ type: z.literal("conversation.replaced"), messages: z.array(message) }),
  z.object({ type: z.literal("tasks.updated"), tasks: z.array(task) }),
  z.object({
    type: z.literal("turn.finished"),
    at: z.string(),
    run: z.string(),
    status: z.string(),
    text: z.string(),
    next: z.array(z.string()),
    score: z.nullable(z.number()),
    calls: count,
    changed: z.boolean(),
  }),
  z.object({ type: z.literal("session.rewound"), at: z.string(), turns: count }),
  z.object({ type: z.literal("session.summarized"), at: z.string(), from: count, summary: z.string() }),
]);

/** Throws for text that is no line of a session. */
export function parseLine(text: string): SessionLine {
  return z.parse(schema, JSON.parse(text));
}
