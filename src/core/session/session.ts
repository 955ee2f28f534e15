/** A session is a fold over the lines of its file: loading replays them, and a damaged line loses only itself. Pure. */

import type { Message } from "../model.ts";
import { nameSome } from "../suggest.ts";
import { quoteWords, type TurnRecord } from "./became.ts";
import { type Conversation, closeTurn, type TaskItem, withClaimsDropped, withTasks } from "./conversation.ts";
import { parseLine, type SessionLine } from "./line.ts";

/** A point in a conversation: how many messages there were, and how often a summary had replaced all of them. */
interface Mark {
  readonly replaced: number;
  readonly messages: number;
  readonly tasks: readonly TaskItem[];
}

export interface Happening {
  /** A command of the user's own; an undo or redo; the end of an earlier turn; what a new request found changed. */
  readonly what: "command" | "reversal" | "end" | "found";
  /** The run that it is about; null: none. */
  readonly run: string | null;
  /** In pai's words; of a command what it printed, too, below its first line. */
  readonly text: string;
}

export interface Turn extends TurnRecord {
  readonly at: string;
  readonly run: string;
  readonly mode: string;
  readonly model: string;
  readonly request: string;
  /** What had happened since the turn before, as the request of this turn told it; empty if it sent none. */
  readonly since: readonly Happening[];
  /** null: the turn was cut off before it ended. */
  readonly status: string | null;
  /** The user has taken back what it changed, or (false) brought it back; null: neither. */
  readonly undone: boolean | null;
  /** Of what it changed the paths that its undo, and so a redo, left as they were. */
  readonly missing?: readonly string[] | undefined;
  readonly next: readonly string[];
  readonly score: number | null;
  readonly calls: number;
  /** Whether anything that it changed stands. */
  readonly changed: boolean;
  /** The turns that this summary tells, as it tells them; empty: it is none. */
  readonly told: readonly Turn[];
  /** What the model knew at its end of the files that it showed or changed: by path a digest, or null for nothing. */
  readonly seen: { readonly at: string; readonly files: Readonly<Record<string, string | null>> } | null;
  /** Where the conversation was before this turn, for rewinding. */
  readonly before: Mark;
}

export interface Session {
  readonly id: string;
  readonly at: string;
  readonly turns: readonly Turn[];
  /** What no request has told yet: what has happened since the last turn began that sent one, oldest first. */
  readonly pending: readonly Happening[];
  readonly conversation: Conversation;
  /** The messages that each summary replaced, for rewinding. */
  readonly replaced: readonly (readonly Message[])[];
}

const empty: Conversation = { messages: [], tasks: [] };

export function emptySession(id: string, at: string): Session {
  return { id, at, turns: [], pending: [], conversation: empty, replaced: [] };
}

type TurnLine = Extract<SessionLine, { type: "turn.finished" | "turn.reversed" | "turn.saw" }>;

function changedBy(turns: readonly Turn[], line: TurnLine): readonly Turn[] {
  if (line.type === "turn.reversed")
    return changeTurn(turns, line.run, { undone: line.undone, missing: line.missing, changed: true });
  if (line.type === "turn.saw") return changeTurn(turns, line.run, { seen: { at: line.at, files: line.files } });
  const { type: _type, at: _at, run, ...ended } = line;
  return changeTurn(turns, run, ended);
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

const maxOfRequest = 80;

export function nameRequest({ request }: Pick<Turn, "request">): string {
  const line = request.replace(/\s+/g, " ");
  return quoteWords(line.length > maxOfRequest ? `${line.slice(0, maxOfRequest)}…` : line);
}

/** What an undo or redo left as it was, as the end of a sentence about it; "": nothing. */
export const sayMissing = (missing: readonly string[] = []): string =>
  missing.length === 0 ? "" : `, but for what somebody had changed or taken back before the undo: ${nameSome(missing)}`;

/** The turns of a session, and those that its summaries tell. */
export const allTurns = ({ turns }: Pick<Session, "turns">): readonly Turn[] =>
  turns.flatMap((turn) => [turn, ...turn.told]);

/** What the next request must be told because of a line about an earlier turn; null: nothing. */
function newsOf(turns: readonly Turn[], line: TurnLine): Happening | null {
  const { type, run } = line;
  // Almost every line is one of these, and the turns of a long session need not be searched for it.
  if (type === "turn.saw" || (type === "turn.finished" && turns.at(-1)?.run === run)) return null;
  const turn = allTurns({ turns }).findLast((each) => each.run === run);
  if (turn === undefined) return null;
  const name = nameRequest(turn);
  if (type === "turn.finished")
    return { what: "end", run, text: `the turn ${name} was still at work then and has ended: ${line.became}` };
  const commit = line.undone && turn.became.includes("committed as") ? " (its commit stays)" : "";
  const text = `${line.undone ? "undone" : "brought back"} by the user: what you did for ${name}${commit}${sayMissing(line.missing)}`;
  return { what: "reversal", run, text };
}

const unfinished = {
  ...{ since: [], seen: null, status: null, text: "", became: "", diff: "", undone: null },
  ...{ next: [], score: null, calls: 0, changed: false, told: [] },
};

const close = (conversation: Conversation): Conversation => ({
  ...conversation,
  messages: closeTurn(conversation.messages),
});

export const markOf = ({ replaced, conversation: { messages, tasks } }: Session): Mark => ({
  replaced: replaced.length,
  messages: messages.length,
  tasks,
});

export function conversationBefore({ turns, replaced, conversation }: Session, at: number): Conversation {
  const mark = turns[at]?.before;
  if (mark === undefined) return conversation;
  const messages = replaced[mark.replaced] ?? conversation.messages;
  return { messages: messages.slice(0, mark.messages), tasks: mark.tasks };
}

function goBack(session: Session, at: number): Session {
  const { turns, replaced } = session;
  const gone = turns.slice(at);
  const known = gone.flatMap(({ since }, n) => since.filter(({ what }) => n === 0 || what !== "command"));
  return {
    ...session,
    turns: turns.slice(0, at),
    pending: [...known, ...session.pending].filter(
      ({ what, run }) => what !== "found" && (run === null || !gone.some(holds(run))),
    ),
    conversation: conversationBefore(session, at),
    replaced: replaced.slice(0, turns[at]?.before?.replaced ?? replaced.length),
  };
}

type Summarized = Extract<SessionLine, { type: "session.summarized" }>;

/** The turns that a summary tells. It tells what was undone before it was made, so that is not told again. */
const tellTurns = (turns: readonly Turn[]): readonly Turn[] =>
  turns
    .flatMap((turn) => (turn.told.length > 0 ? turn.told : [turn]))
    .map((turn) => ({ ...turn, changed: turn.changed && turn.undone !== true, undone: null }));

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
  const { conversation, turns } = session;
  const { tasks } = since.conversation;
  const told = since.turns.slice(turns.length);
  const { messages } = conversation;
  const before = markOf(session);
  const summary = withTasks(line.summary, tasks);
  const { pending } = since;
  if (messages.length === 0) {
    const turn = summaryTurn({ ...line, summary }, "summary", { told, before });
    return { ...session, pending, conversation: { messages, tasks }, turns: [...turns, turn] };
  }
  const summarized: Message = { role: "user", text: `Summary of what happened next:\n${summary}` };
  const heard: Message = { role: "assistant", text: "Understood.", calls: [], native: null };
  return {
    ...session,
    pending,
    conversation: { messages: [...messages, summarized, heard], tasks },
    turns: [...turns, summaryTurn(line, "tool-loop", { told, before })],
  };
}

function withNews(session: Session, line: TurnLine): Session {
  const news = newsOf(session.turns, line);
  const pending = news === null ? session.pending : [...session.pending, news];
  return { ...session, pending, turns: changedBy(session.turns, line) };
}

export function foldSession(session: Session, line: SessionLine): Session {
  const { conversation, turns, replaced, pending } = session;
  switch (line.type) {
    case "session.started":
      return { ...session, id: line.id, at: line.at };
    case "turn.started": {
      const { at, run, mode, model, request } = line;
      const closed = close(conversation);
      const before = markOf({ ...session, conversation: closed });
      return {
        ...session,
        conversation: closed,
        turns: [...turns, { at, run, mode, model, request, ...unfinished, since: pending, before }],
        pending: [],
      };
    }
    case "message.added":
      return { ...session, conversation: { ...conversation, messages: [...conversation.messages, line.message] } };
    case "conversation.replaced":
      return {
        ...session,
        conversation: { messages: line.messages, tasks: conversation.tasks },
        replaced: [...replaced, conversation.messages],
      };
    case "files.known":
      return { ...session, conversation: { ...conversation, known: line.files } };
    case "tasks.updated":
      return { ...session, conversation: { ...conversation, tasks: line.tasks } };
    case "turn.finished": {
      const isFalse = (line.isClaim ?? line.text === "") && line.mode === "tool-loop";
      const kept = isFalse ? { ...conversation, messages: withClaimsDropped(conversation.messages) } : conversation;
      return { ...withNews(session, line), conversation: close(kept) };
    }
    case "turn.reversed":
    case "turn.saw":
      return withNews(session, line);
    case "session.noted":
      return { ...session, pending: [...pending, { what: line.what, run: line.run, text: line.text }] };
    case "session.withheld": {
      const isTold = ({ what }: Happening) => what !== "command";
      // A turn that sent no request has told nothing.
      const withheld = turns.map((turn) => (turn.calls > 0 ? turn : { ...turn, since: turn.since.filter(isTold) }));
      return { ...session, pending: pending.filter(isTold), turns: withheld };
    }
    case "session.rewound":
      return line.turns < turns.length ? goBack(session, line.turns) : session;
    case "session.summarized":
      return summarize(goBack(session, line.from - 1), line, session);
  }
}

export interface ReadSession {
  readonly session: Session;
  readonly damaged: number;
}

export function readSession(id: string, text: string): ReadSession {
  let session = emptySession(id, "");
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
