/** What a tool-loop session keeps from turn to turn: its messages, and its task list. Pure. */
import * as z from "zod/mini";
import { readAs, type ShapeOf } from "../json.ts";
import type { Json, Message } from "../model.ts";

const status = z.enum(["pending", "in_progress", "completed"]);

export const taskSchema = z.object({
  id: z.int().check(z.nonnegative()),
  content: z.string(),
  description: z.string(),
  /** Its text while it is in progress; null: `content`. */
  active_form: z.nullable(z.string()),
  status,
});

export type TaskItem = ShapeOf<typeof taskSchema>;
type TaskStatus = TaskItem["status"];

export interface Conversation {
  readonly messages: readonly Message[];
  readonly tasks: readonly TaskItem[];
  /** The last turn's files by path: the digest of one that the messages show whole, else "". Absent: nothing is known. */
  readonly known?: Readonly<Record<string, string>>;
}

const filled = z.string().check(z.minLength(1));

const writeTasksInput = z.object({
  tasks: z
    .array(z.object({ content: filled, description: filled, active_form: z.optional(z.string()) }))
    .check(z.minLength(1)),
});

const updateTaskInput = z.object({ id: z.coerce.number().check(z.int(), z.positive()), status });

export type TasksResult =
  | { readonly ok: true; readonly tasks: readonly TaskItem[]; readonly text: string }
  | { readonly ok: false; readonly text: string };

/** Replaces the whole list; ids count from 1. */
export function writeTasks(input: Json): TasksResult {
  const reading = readAs(writeTasksInput, input, "input");
  if (!reading.ok) return { ok: false, text: `write_tasks: ${reading.why}` };
  const tasks = reading.value.tasks.map(
    ({ content, description, active_form = null }, at): TaskItem => ({
      id: at + 1,
      content,
      description,
      active_form,
      status: "pending",
    }),
  );
  return { ok: true, tasks, text: renderTasks(tasks) };
}

/** An unknown id is an error text for the model. */
export function updateTask(tasks: readonly TaskItem[], input: Json): TasksResult {
  const reading = readAs(updateTaskInput, input, "input");
  if (!reading.ok) return { ok: false, text: `update_task: ${reading.why}` };
  const { id, status } = reading.value;
  if (!tasks.some((task) => task.id === id)) return { ok: false, text: `update_task: unknown task: ${id}` };
  const updated = tasks.map((task) => (task.id === id ? { ...task, status } : task));
  return { ok: true, tasks: updated, text: renderTasks(updated) };
}

const boxes: Readonly<Record<TaskStatus, string>> = { pending: "[ ]", in_progress: "[~]", completed: "[x]" };

export function renderTasks(tasks: readonly TaskItem[]): string {
  if (tasks.length === 0) return "No tasks.";
  const lines = tasks.map(
    ({ id, content, description, status }) => `${boxes[status]} ${id}. ${content}\n      ${description}`,
  );
  const count = (status: TaskStatus) => tasks.filter((task) => task.status === status).length;
  const all = tasks.length === 1 ? "1 task" : `${tasks.length} tasks`;
  const counts = `${all} (${count("pending")} pending, ${count("in_progress")} in progress, ${count("completed")} completed)`;
  return [...lines, counts].join("\n");
}

/** A text that replaces messages, followed by the task list, which the model knew only from those messages. */
export const withTasks = (text: string, tasks: readonly TaskItem[]): string =>
  tasks.length === 0 ? text : `${text}\n\nCurrent tasks:\n${renderTasks(tasks)}`;

/** The messages since the user's last request, which a compaction must keep whole. */
export function lastTurn(messages: readonly Message[]): readonly Message[] {
  const at = messages.findLastIndex(({ role }) => role === "user");
  return at < 0 ? [] : messages.slice(at);
}

/** Ends a reply that never became whole. */
export const brokenOff = "\n(broken off)";

/** In place of words that the model did not say. */
export const unsaid = "(no words here: what became of this turn is said below)";

const sentencesIn = (words: string): readonly string[] =>
  words.split(/(?<=[.!?])\s+|\n+/).filter((sentence) => sentence.trim() !== "");

export const questionsIn = (words: string): readonly string[] =>
  sentencesIn(words).filter((sentence) => /[?？]\W*$/.test(sentence));

/** What stands in place of words that claim what is not so: their questions, which the user may answer. */
export function withoutClaims(words: string): string {
  if (words.trim() === "") return unsaid;
  const questions = questionsIn(words);
  if (questions.length === sentencesIn(words).length) return words;
  return ["(words left out here: what became of this turn is said below)", ...questions].join("\n");
}

/** The messages of a turn that failed: its last words claim what is not so. */
export function withClaimsDropped(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || last.calls.length > 0 || last.text.endsWith(brokenOff)) return messages;
  return [...messages.slice(0, -1), { ...last, text: withoutClaims(last.text), native: null }];
}

/** Of a call whose turn ended before its result was there. */
const noResult = "no result is known: what became of this turn is said below";

/** Completes a turn that broke off, as providers require: every call has a result, and the last message is a reply. */
export function closeTurn(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  if (last === undefined || (last.role === "assistant" && last.calls.length === 0)) return messages;
  const said: Message = { role: "assistant", text: unsaid, calls: [], native: null };
  if (last.role !== "assistant") return [...messages, said];
  const results = last.calls.map(({ id, name }) => ({ id, name, ok: false, text: noResult }));
  return [...messages, { role: "tools", results }, said];
}

export function renderConversation(messages: readonly Message[]): string {
  const cut = (text: string) => (text.length > 1000 ? `${text.slice(0, 1000)} […]` : text);
  const blocks = messages.map((message) => {
    if (message.role === "user") return `[User]\n${message.text}`;
    if (message.role === "tools")
      return message.results.map(({ name, text }) => `[Result of ${name}]\n${cut(text)}`).join("\n\n");
    const calls = message.calls.map(({ name, input }) => `[Call] ${name} ${JSON.stringify(input)}`);
    return [`[Assistant]\n${message.text}`, ...calls].join("\n");
  });
  return blocks.join("\n\n");
}
