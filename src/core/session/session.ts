/** A session as a fold over the lines of its file: loading is replaying, and a damaged line costs only itself. Pure. */

import type { Message } from "../model.ts";
import { type Conversation, closeTurn, withTasks } from "./conversation.ts";
import { parseLine, type SessionLine } from "./session-line.ts";

export interface Turn {
  readonly at: string;
  readonly run: string;
  readonly mode: string;
  readonly model: string;
  readonly request: string;
  /** null: it was cut off before it ended. */
  readonly status: string | null;
  readonly text: string;
  readonly next: readonly string[];
  readonly score: number | null;
  readonly calls: number;
  readonly changed: boolean;
  /** The conversation as it was before this turn: what rewinding goes back to. */
  readonly before: Conversation;
}

export interface Session {
  readonly id: string;
  readonly at: string;
  readonly turns: readonly Turn[];
  readonly conversation: Conversation;
}

const empty: Conversation = { messages: [], tasks: [] };

export function emptySession(id: string, at: string): Session {
  return { id, at, turns: [], conversation: empty };
}

function endTurn(turns: readonly Turn[], line: Extract<SessionLine, { type: "turn.finished" }>): readonly Turn[] {
  const { status, text, next, score, calls, changed } = line;
  const at = turns.findLastIndex(({ run }) => run === line.run);
  const turn = turns[at];
  return turn === undefined ? turns : turns.with(at, { ...turn, status, text, next, score, calls, changed });
}

const unfinished = { status: null, text: "", next: [], score: null, calls: 0, changed: false };

const cutOff = "this turn was cut off before it ended; what it had changed was taken back";

function close({ messages, tasks }: Conversation, how: string): Conversation {
  return { messages: closeTurn(messages, how), tasks };
}

function summarize({ turns, conversation, ...rest }: Session, from: number, summary: string): Session {
  const before = turns[from - 1]?.before ?? empty;
  const text = withTasks(`Summary of what happened next:\n${summary}`, conversation.tasks);
  const told: Message = { role: "user", text };
  const heard: Message = { role: "assistant", text: "Understood.", calls: [], native: null };
  const messages = [...before.messages, told, heard];
  return { ...rest, turns: turns.slice(0, from - 1), conversation: { messages, tasks: conversation.tasks } };
}

/** The session after one more line. */
export function foldSession(session: Session, line: SessionLine): Session {
  const { conversation, turns } = session;
  switch (line.type) {
    case "session.started":
      return { ...session, id: line.id, at: line.at };
    case "turn.started": {
      const { at, run, mode, model, request } = line;
      const closed = close(conversation, cutOff);
      return {
        ...session,
        conversation: closed,
        turns: [...turns, { at, run, mode, model, request, ...unfinished, before: closed }],
      };
    }
    case "message.added":
      return { ...session, conversation: { ...conversation, messages: [...conversation.messages, line.message] } };
    case "conversation.replaced":
      return { ...session, conversation: { ...conversation, messages: line.messages } };
    case "tasks.updated":
      return { ...session, conversation: { ...conversation, tasks: line.tasks } };
    case "turn.finished": {
      const rest = line.changed ? "what it changed before that remains" : "nothing of it remains";
      const how = `this turn ended: ${line.status}; ${rest}`;
      return { ...session, turns: endTurn(turns, line), conversation: close(conversation, how) };
    }
    case "session.rewound": {
      const turn = turns[line.turns];
      return turn === undefined
        ? session
        : { ...session, turns: turns.slice(0, line.turns), conversation: turn.before };
    }
    case "session.summarized":
      return summarize(session, line.from, line.summary);
  }
}

/** The turns of a session without their messages, in time that grows with their number alone: for sessions of any size. */
export function foldTurns(id: string, lines: Iterable<SessionLine>): Session {
  let at = "";
  const turns: Turn[] = [];
  for (const line of lines) {
    if (line.type === "session.started") at = line.at;
    else if (line.type === "turn.started") {
      const { at: begun, run, mode, model, request } = line;
      turns.push({ at: begun, run, mode, model, request, ...unfinished, before: empty });
    } else if (line.type === "session.rewound") turns.length = Math.min(turns.length, line.turns);
    else if (line.type === "session.summarized") turns.length = Math.min(turns.length, line.from - 1);
    else if (line.type === "turn.finished") {
      const index = turns.findLastIndex(({ run }) => run === line.run);
      turns.push(...endTurn(turns.splice(index < 0 ? turns.length : index), line));
    }
  }
  return { id, at, turns, conversation: empty };
}

/** Reads a session file; `damaged` counts lines that could not be read. `earlier`: what came before this text. */
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
  // The name of the file is the id, whatever its content says.
  return {
    session: { ...session, id, conversation: close(session.conversation, cutOff) },
    damaged,
  };
}

/** What was asked and answered, for flows that know no messages. */
export function historyOf({ turns }: Session): readonly { readonly request: string; readonly answer: string }[] {
  return turns.map(({ request, text, status }) => ({
    request,
    answer: text === "" ? (status ?? "interrupted") : text,
  }));
}

/** The next steps that the last turn named, which the user may confirm; none when it did not end well. */
export function pendingOf({ turns }: Session): readonly string[] {
  const last = turns.at(-1);
  return last !== undefined && ["answered", "verified", "unverified"].includes(last.status ?? "") ? last.next : [];
}
