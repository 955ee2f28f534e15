/** A session is a fold over the lines of its file: loading replays them, and a damaged line loses only itself. Pure. */

import * as z from "zod/mini";
import type { Message } from "../model.ts";
import { type Conversation, closeTurn, type TaskItem, taskStatuses, withoutClaim, withTasks } from "./conversation.ts";

/** A point in a conversation: how many messages there were, and how often a summary had replaced all of them. */
interface Mark {
  readonly replaced: number;
  readonly messages: number;
  readonly tasks: readonly TaskItem[];
}

export interface Turn {
  readonly at: string;
  readonly run: string;
  readonly mode: string;
  readonly model: string;
  readonly request: string;
  /** null: the turn was cut off before it ended. */
  readonly status: string | null;
  /** The model's last words; "": it said none, or they may not stand. */
  readonly text: string;
  /** What became of the turn, in pai's words; "": it was cut off. */
  readonly became: string;
  /** Unified diff of what was kept, cut; behind a line that says so, of what was taken back or declined. */
  readonly diff: string;
  /** What the checks printed that failed the turn; absent: nothing. */
  readonly printed?: string | undefined;
  /** The user has taken back what it changed, or (false) brought it back; null: neither. */
  readonly undone: boolean | null;
  readonly next: readonly string[];
  readonly score: number | null;
  readonly calls: number;
  readonly changed: boolean;
  /** The turns that this summary tells, as it tells them; empty: it is none. */
  readonly told: readonly Turn[];
  /** Where the conversation was before this turn, for rewinding. null: only the file holds that. */
  readonly before: Mark | null;
}

export interface Session {
  readonly id: string;
  readonly at: string;
  readonly turns: readonly Turn[];
  readonly conversation: Conversation;
  /** The messages that each summary replaced, for rewinding; empty once only the file holds them. */
  readonly replaced: readonly (readonly Message[])[];
}

const empty: Conversation = { messages: [], tasks: [] };

export function emptySession(id: string, at: string): Session {
  return { id, at, turns: [], conversation: empty, replaced: [] };
}

type TurnLine = Extract<SessionLine, { type: "turn.finished" | "turn.reversed" }>;

function changedBy(turns: readonly Turn[], line: TurnLine): readonly Turn[] {
  if (line.type === "turn.reversed") return changeTurn(turns, line.run, { undone: line.undone, changed: true });
  const { mode, status, text, became, diff, printed, next, score, calls, changed } = line;
  return changeTurn(turns, line.run, { mode, status, text, became, diff, printed, next, score, calls, changed });
}

const holds = (run: string) => (turn: Turn) => turn.run === run || turn.told.some((each) => each.run === run);

/** Changes the turn of a run, also within the summary that tells it. */
function changeTurn(turns: readonly Turn[], run: string, change: Partial<Turn>): readonly Turn[] {
  const at = turns.findLastIndex(holds(run));
  const turn = turns[at];
  if (turn === undefined) return turns;
  const told = changeTurn(turn.told, run, change);
  return turns.with(at, turn.run === run ? { ...turn, ...change } : { ...turn, told });
}

const unfinished = {
  ...{ status: null, text: "", became: "", diff: "", undone: null },
  ...{ next: [], score: null, calls: 0, changed: false, told: [] },
};

function close({ messages, tasks }: Conversation): Conversation {
  return { messages: closeTurn(messages), tasks };
}

/** The conversation before turn `at` (from 0); null: only the file holds it. */
export function conversationBefore({ turns, replaced, conversation }: Session, at: number): Conversation | null {
  const mark = turns[at]?.before ?? null;
  if (mark === null) return null;
  const messages = replaced[mark.replaced] ?? conversation.messages;
  return { messages: messages.slice(0, mark.messages), tasks: mark.tasks };
}

/** The session before turn `at` (from 0). `recalled`: the conversation then, read from the file. */
function goBack(session: Session, at: number, recalled: Conversation | null): Session {
  const { turns, replaced } = session;
  return {
    ...session,
    turns: turns.slice(0, at),
    conversation: conversationBefore(session, at) ?? recalled ?? empty,
    replaced: replaced.slice(0, turns[at]?.before?.replaced ?? replaced.length),
  };
}

/** Drops the messages that only rewinding needs, for a session whose file holds them. */
export function forgetReplaced(session: Session): Session {
  const { replaced } = session;
  const turns = session.turns.map((turn) =>
    turn.before === null || turn.before.replaced === replaced.length ? turn : { ...turn, before: null },
  );
  return { ...session, turns, replaced: replaced.map(() => []) };
}

type Summarized = Extract<SessionLine, { type: "session.summarized" }>;

/** The turns that a summary tells. It tells what was undone before it was made, so that is not told again. */
const tellTurns = (turns: readonly Turn[]): readonly Turn[] =>
  turns
    .flatMap((turn) => (turn.told.length > 0 ? turn.told : [turn]))
    .map((turn) => ({ ...turn, changed: turn.changed && turn.undone !== true, undone: null, before: null }));

/** A summary in place of the turns `told`. `mode`: tool-loop where its conversation holds the summary. */
const summaryTurn = (
  { at, from, summary }: Summarized,
  mode: string,
  { told, before }: Pick<Turn, "told" | "before">,
): Turn => ({
  ...{ at, run: `summary of ${at}`, mode, model: "", request: `/rewind ${from} summary`, ...unfinished, before },
  ...{ status: "answered", text: summary, told: tellTurns(told) },
  became: `this summary took the place of turn ${from} and all later ones; no file was touched`,
});

/** `session` went back to before the turn that the line names; the tasks of the conversation `since` then stay. */
function summarize(session: Session, line: Summarized, since: Session): Session {
  const { conversation, replaced, turns } = session;
  const { tasks } = since.conversation;
  const told = since.turns.slice(turns.length);
  const { messages } = conversation;
  const before: Mark = { replaced: replaced.length, messages: messages.length, tasks: conversation.tasks };
  const summary = withTasks(line.summary, tasks);
  if (messages.length === 0) {
    const turn = summaryTurn({ ...line, summary }, "summary", { told, before });
    return { ...session, conversation: { messages, tasks }, turns: [...turns, turn] };
  }
  const summarized: Message = { role: "user", text: `Summary of what happened next:\n${summary}` };
  const heard: Message = { role: "assistant", text: "Understood.", calls: [], native: null };
  return {
    ...session,
    conversation: { messages: [...messages, summarized, heard], tasks },
    turns: [...turns, summaryTurn(line, "tool-loop", { told, before })],
  };
}

/** The session after one more line. `recalled`: the conversation that the line goes back to, read from the file. */
export function foldSession(session: Session, line: SessionLine, recalled: Conversation | null = null): Session {
  const { conversation, turns, replaced } = session;
  switch (line.type) {
    case "session.started":
      return { ...session, id: line.id, at: line.at };
    case "turn.started": {
      const { at, run, mode, model, request } = line;
      const closed = close(conversation);
      const before: Mark = { replaced: replaced.length, messages: closed.messages.length, tasks: closed.tasks };
      return {
        ...session,
        conversation: closed,
        turns: [...turns, { at, run, mode, model, request, ...unfinished, before }],
      };
    }
    case "message.added":
      return { ...session, conversation: { ...conversation, messages: [...conversation.messages, line.message] } };
    case "conversation.replaced":
      return {
        ...session,
        conversation: { ...conversation, messages: line.messages },
        replaced: [...replaced, conversation.messages],
      };
    case "tasks.updated":
      return { ...session, conversation: { ...conversation, tasks: line.tasks } };
    case "turn.finished": {
      const isFalse = line.text === "" && line.mode === "tool-loop";
      const kept = isFalse ? { ...conversation, messages: withoutClaim(conversation.messages) } : conversation;
      return { ...session, turns: changedBy(turns, line), conversation: close(kept) };
    }
    case "turn.reversed":
      return { ...session, turns: changedBy(turns, line) };
    case "session.rewound":
      return line.turns < turns.length ? goBack(session, line.turns, recalled) : session;
    case "session.summarized":
      return summarize(goBack(session, line.from - 1, recalled), line, session);
  }
}

/** The turns of a session without their messages, for sessions of any size: the time depends only on their number. */
export function foldTurns(id: string, lines: Iterable<SessionLine>): Session {
  let at = "";
  const turns: Turn[] = [];
  for (const line of lines) {
    if (line.type === "session.started") at = line.at;
    else if (line.type === "turn.started") {
      const { at: begun, run, mode, model, request } = line;
      turns.push({ at: begun, run, mode, model, request, ...unfinished, before: null });
    } else if (line.type === "session.rewound") turns.length = Math.min(turns.length, line.turns);
    else if (line.type === "session.summarized") {
      turns.push(summaryTurn(line, "summary", { told: turns.splice(line.from - 1), before: null }));
    } else if (line.type === "turn.finished" || line.type === "turn.reversed") {
      const index = turns.findLastIndex(holds(line.run));
      turns.push(...changedBy(turns.splice(index < 0 ? turns.length : index), line));
    }
  }
  return { id, at, turns, conversation: empty, replaced: [] };
}

/** Reads a session file; `damaged` counts lines that could not be read. `earlier`: the session before this text. */
export function readSession(
  id: string,
  text: string,
  earlier = emptySession(id, ""),
): { readonly session: Session; readonly damaged: number } {
  let session = earlier;
  let damaged = 0;
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    try {
      session = foldSession(session, parseLine(line));
    } catch {
      damaged += 1;
    }
  }
  // The file's name is the id, whatever its content says.
  return {
    session: { ...session, id, conversation: close(session.conversation) },
    damaged,
  };
}

/** The next steps that the last turn offered, which the user may confirm. */
export const pendingOf = ({ turns }: Session): readonly string[] => turns.at(-1)?.next ?? [];

/** Whether the last turn's answer ends with a question, so that a yes answers it. */
export function asksBack({ turns }: Session): boolean {
  const last = turns.at(-1);
  return last !== undefined && !last.undone && /[?？]\W*$/.test(last.text);
}

const count = z.int().check(z.nonnegative());
const call = z.object({ id: z.string(), name: z.string(), input: z.json() });
const result = z.object({ id: z.string(), name: z.string(), ok: z.boolean(), text: z.string() });
const native = z.object({ model: z.string(), content: z.json() });
const message: z.ZodMiniType<Message> = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), text: z.string() }),
  z.object({ role: z.literal("assistant"), text: z.string(), calls: z.array(call), native: z.nullable(native) }),
  z.object({ role: z.literal("tools"), results: z.array(result) }),
]);
const task: z.ZodMiniType<TaskItem> = z.object({
  id: count,
  content: z.string(),
  description: z.string(),
  active_form: z.nullable(z.string()),
  status: z.enum(taskStatuses),
});

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
  z.object({ type: z.literal("tasks.updated"), tasks: z.readonly(z.array(task)) }),
  z.object({
    type: z.literal("turn.finished"),
    at: z.string(),
    run: z.string(),
    /** How the run worked; of `auto` what it chose. */
    mode: z.string(),
    status: z.string(),
    /** These four are the `TurnRecord`. */
    text: z.string(),
    became: z.string(),
    diff: z.string(),
    printed: z.optional(z.string()),
    next: z.readonly(z.array(z.string())),
    score: z.nullable(z.number()),
    calls: count,
    /** The run changed files, so rewinding the code has something to undo. */
    changed: z.boolean(),
  }),
  /** The user took back what the run had changed, or brought it back. */
  z.object({ type: z.literal("turn.reversed"), at: z.string(), run: z.string(), undone: z.boolean() }),
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
