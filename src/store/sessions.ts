/** Session files in the user's state folder: a JSON line for each event, appended as it happens. */
import { closeSync, constants, mkdirSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { quoteForShell } from "../core/command/quote.ts";
import { PaiError, toPaiError } from "../core/error.ts";
import type { StampedEvent } from "../core/event.ts";
import { maskSecrets } from "../core/secrets/key-shapes.ts";
import { type Printed, turnRecord } from "../core/session/became.ts";
import type { Conversation } from "../core/session/conversation.ts";
import { parseLine, type SessionLine } from "../core/session/line.ts";
import {
  conversationBefore,
  emptySession,
  foldSession,
  foldTurns,
  forgetReplaced,
  readSession,
  type Session,
} from "../core/session/session.ts";
import { nameSome } from "../core/suggest.ts";
import { rowOf } from "../core/vocabulary.ts";
import { entryAt } from "../system/entry-at.ts";
import { namesOf } from "../system/lookups.ts";
import { writeBytes } from "../system/write-file.ts";
import { rootIn } from "./belongings.ts";
import { listJsonl } from "./safe-file.ts";

export interface OpenSession {
  /** The current state of the session. */
  readonly session: Session;
  /** Appends a line and applies it. If the file cannot be written, it warns once and the session continues unsaved. */
  add(line: SessionLine): void;
  /** Takes in what another process has added since. */
  refresh(): void;
  /**
   * The conversation before turn `at` (from 0); read from the file if a summary has replaced it. Throws file_unusable
   * if it is no longer there.
   */
  before(at: number): Conversation;
  /** Takes every event of a run and saves those that belong to a session. Never throws. */
  sink(event: StampedEvent): void;
  close(): void;
}

export interface SessionSummary {
  readonly id: string;
  /** Time of the last change, in epoch milliseconds. */
  readonly changed: number;
  readonly turns: number;
  /** The first request, shortened. */
  readonly preview: string;
  readonly bytes: number;
}

export interface Sessions {
  /** Newest first; other files are skipped. */
  list(): readonly SessionSummary[];
  /**
   * Loads a session by id, by the unique beginning of an id, or the newest (null). Throws usage if none or several
   * match.
   */
  load(id: string | null): ReadSession;
  /** Opens a new session, or continues a loaded one. */
  open(session: Session | null, now: () => Date, warn: (text: string) => void): OpenSession;
  /** Deletes all but the newest `keep`; returns how many. */
  prune(keep: number): number;
}

const idShape = /^\d{8}-\d{6}-[0-9a-f]{8}$/;

/** Of larger files only the end is resumed. */
const maxBytes = 64 * 1024 * 1024;

const stamp = (at: Date) => at.toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);

/** `folder` is the sessions folder of one workspace; it is made with the first line. */
export function openSessions(folder: string, root: string, maxLoaded = maxBytes): Sessions {
  const fileOf = (id: string) => join(folder, `${id}.jsonl`);
  const ids = () => listJsonl(folder).filter((id) => idShape.test(id));
  const read = (id: string) => readSessionFile(fileOf(id), id, maxLoaded);
  const summarize = (id: string): SessionSummary[] => {
    try {
      const session = readTurns(fileOf(id), id);
      const { mtimeMs: changed, size: bytes } = statSync(fileOf(id));
      const preview = [...(session.turns[0]?.request ?? "")].slice(0, 80).join("");
      return session.turns.length === 0 ? [] : [{ id, changed, bytes, turns: session.turns.length, preview }];
    } catch {
      return [];
    }
  };
  const list = () =>
    ids()
      .flatMap(summarize)
      .sort((a, b) => b.changed - a.changed);

  return {
    list,
    load(wanted) {
      const found =
        wanted === null
          ? list()
              .slice(0, 1)
              .map(({ id }) => id)
          : ids().filter((id) => id.startsWith(wanted));
      const [id] = found;
      if (id === undefined && wanted === null) throw new PaiError("usage", "no session here yet");
      if (id === undefined) throw unknownSession(join(folder, "../.."), String(wanted));
      const hint = "see: pai resume --list";
      if (found.length > 1)
        throw new PaiError("usage", `${wanted} names ${found.length} sessions: ${nameSome(found)}`, { hint });
      return read(id);
    },
    open(loaded, now, warn) {
      const at = now();
      const id = loaded?.id ?? `${stamp(at)}-${crypto.randomUUID().slice(0, 8)}`;
      const file = openAppend(folder, fileOf(id), { warn, read: () => read(id).session });
      const session = loaded === null ? emptySession(id, at.toISOString()) : forgetReplaced(loaded);
      return follow(session, file, { root, now, isNew: loaded === null });
    },
    prune(keep) {
      const old = list().slice(keep);
      for (const { id } of old) rmSync(fileOf(id), { force: true });
      return old.length;
    },
  };
}

/** What to say of an id that no session here has: whose it is, by the sessions of all folders. */
function unknownSession(stateDir: string, wanted: string): PaiError {
  const folders = namesOf(stateDir).map((name) => join(stateDir, name, "sessions"));
  const files = folders.flatMap((each) => namesOf(each).map((name) => ({ name, file: join(each, name) })));
  const [root] = files.filter(({ name }) => name.startsWith(wanted)).flatMap(({ file }) => rootIn(file));
  if (root === undefined)
    return new PaiError("usage", `unknown session: ${wanted}`, { hint: "see: pai resume --list" });
  const isGone = entryAt(root) === undefined;
  return new PaiError("usage", `session ${wanted} belongs to ${root}${isGone ? ", which is gone" : ""}`, {
    hint: isGone ? "it goes on in a new folder at that path" : `go on there: -C ${quoteForShell(root)}`,
  });
}

/** A session that is not saved (--ephemeral). */
export function openUnkept(now: () => Date): OpenSession {
  const nowhere: Append = { write: () => false, read: () => null, isNews: () => false, close: () => {} };
  return follow(emptySession("", now().toISOString()), nowhere, { root: "", now, isNew: false });
}

interface Append {
  /** False: the line was not saved. */
  write(line: SessionLine): boolean;
  /** The session as saved in the file; null: not readable. */
  read(): Session | null;
  /** Whether another process has written since it was last asked. */
  isNews(): boolean;
  close(): void;
}

/** Opens the file at the first line, so that an empty session leaves no file. */
function openAppend(
  folder: string,
  file: string,
  { warn, read }: { readonly warn: (text: string) => void; readonly read: () => Session },
): Append {
  const sizeNow = () => Bun.file(file).size;
  let fd: number | null = null;
  let broken = false;
  /** Bytes of the file without those of others that are news. */
  let known = sizeNow();
  return {
    write(line) {
      if (broken) return false;
      try {
        if (fd === null) {
          mkdirSync(folder, { recursive: true, mode: 0o700 });
          const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
          fd = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
        }
        const hide = (_: string, value: unknown) => (typeof value === "string" ? maskSecrets(value) : value);
        const bytes = Buffer.from(`${JSON.stringify(line, hide)}\n`);
        writeBytes(fd, bytes);
        known += bytes.length;
        return true;
      } catch (error) {
        broken = true;
        warn(`the session cannot be saved: ${toPaiError(error, file).message}`);
        return false;
      }
    },
    read() {
      try {
        return read();
      } catch {
        return null;
      }
    },
    isNews() {
      const size = broken ? known : sizeNow();
      const isNews = size !== known;
      known = size;
      return isNews;
    },
    close() {
      if (fd !== null) closeSync(fd);
      fd = null;
    },
  };
}

function follow(
  start: Session,
  file: Append,
  { root, now, isNew }: { root: string; now: () => Date; isNew: boolean },
): OpenSession {
  let session = start;
  let begun = !isNew;
  const before = (at: number): Conversation => {
    const known = conversationBefore(session, at);
    if (known !== null) return known;
    const turn = session.turns[at];
    const kept = file.read();
    const found =
      kept === null
        ? null
        : conversationBefore(
            kept,
            kept.turns.findIndex(({ run }) => run === turn?.run),
          );
    if (found !== null) return found;
    throw new PaiError(
      "file_unusable",
      `the conversation before turn ${at + 1} is not in the session's file any more`,
      {
        hint: "only the end of a session over 64 MiB can be rewound; its files can: /rewind N code",
      },
    );
  };
  const recall = (line: SessionLine): Conversation | null => {
    if (line.type === "session.summarized") return before(line.from - 1);
    return line.type === "session.rewound" && line.turns < session.turns.length ? before(line.turns) : null;
  };
  /** Lines before the first turn. They are written with it, since a session without a turn leaves no file. */
  const early: SessionLine[] = [];
  const add = (line: SessionLine) => {
    session = foldSession(session, line, recall(line));
    if (!begun && line.type.startsWith("session.")) return void early.push(line);
    if (!begun) {
      begun = true;
      file.write({ type: "session.started", v: 1, id: session.id, at: now().toISOString(), root });
      for (const each of early) file.write(each);
    }
    const isKept = file.write(line);
    if (isKept && line.type === "conversation.replaced") session = forgetReplaced(session);
  };
  const printed = { checks: new Map<string, string>(), commands: new Map<string, string>() };
  return {
    get session() {
      return session;
    },
    add,
    refresh() {
      const news = file.isNews() ? file.read() : null;
      if (news === null) return;
      // Processes that spoke at the same time leave a mixture in the file that no provider takes.
      const { messages } = session.conversation;
      const begun = news.conversation.messages.slice(0, messages.length);
      const isMixed = JSON.stringify(begun) !== JSON.stringify(messages);
      const turns = news.turns.map((turn) => ({ ...turn, before: null }));
      session = forgetReplaced(isMixed ? { ...news, turns, conversation: session.conversation } : news);
    },
    before,
    sink(event) {
      if (event.type === "run.started") for (const each of [printed.checks, printed.commands]) each.clear();
      if (event.type === "check.finished" && event.when === "after") printed.checks.set(event.command, event.output);
      if (event.type === "look.shown" && rowOf(event.action)?.kind === "command") {
        // One that ran again is the last one now.
        printed.commands.delete(event.target);
        printed.commands.set(event.target, event.text);
      }
      const line = lineOf(event, printed);
      if (line !== null) add(line);
    },
    close: () => file.close(),
  };
}

/** The session line for an event; null: sessions do not keep this kind. `printed`: what its run printed. */
function lineOf(event: StampedEvent, printed: Printed): SessionLine | null {
  switch (event.type) {
    case "run.started":
      return {
        type: "turn.started",
        at: event.at,
        run: event.run,
        mode: event.mode,
        model: event.model,
        request: event.task,
      };
    case "message.added":
      return { type: event.type, message: event.message };
    case "conversation.replaced":
      return { type: event.type, messages: event.messages };
    case "files.known":
      return { type: event.type, files: event.files };
    case "tasks.updated":
      return { type: event.type, tasks: event.tasks };
    case "run.finished": {
      const { mode, status, next, score, calls, changes } = event.outcome;
      return {
        type: "turn.finished",
        at: event.at,
        run: event.run,
        mode,
        status,
        ...turnRecord(event.outcome, printed),
        next,
        score,
        calls: calls.sent ?? calls.made,
        changed: changes.length > 0,
      };
    }
    default:
      return null;
  }
}

export interface ReadSession {
  readonly session: Session;
  /** Number of unreadable lines. */
  readonly damaged: number;
  /** Number of bytes whose messages were left out; 0: none. */
  readonly leftOut: number;
}

const pieceBytes = 1024 * 1024;
/** How the lines of turns and of the session itself start in the file. */
const turnLine = /^\{"type":"(?:turn|session)\./;
const lookBytes = 20;

/** Calls `take` with each line up to the byte `end`; the last line may be incomplete. */
function eachLine(file: string, end: number, take: (line: Buffer) => void): void {
  const fd = openSync(file, "r");
  try {
    let rest: Buffer[] = [];
    for (let at = 0; at < end; ) {
      const piece = Buffer.alloc(Math.min(pieceBytes, end - at));
      const length = readSync(fd, piece, 0, piece.length, at);
      if (length === 0) break;
      at += length;
      let from = 0;
      for (let to = piece.indexOf(10); to >= 0 && to < length; to = piece.indexOf(10, from)) {
        take(Buffer.concat([...rest, piece.subarray(from, to)]));
        rest = [];
        from = to + 1;
      }
      rest.push(piece.subarray(from, length));
    }
    take(Buffer.concat(rest));
  } finally {
    closeSync(fd);
  }
}

/** The turns up to the byte `end`, without their messages, which take most of the space. */
function readTurns(file: string, id: string, end = statSync(file).size): Session {
  const lines: SessionLine[] = [];
  eachLine(file, end, (line) => {
    if (!turnLine.test(line.toString("latin1", 0, lookBytes))) return;
    try {
      lines.push(parseLine(line.toString("utf8")));
    } catch {
      // Only this line is lost; `readSession` counts damaged lines.
    }
  });
  return foldTurns(id, lines);
}

/** The part of the limit that is read from the end of a larger file; it exceeds any model's context window. */
const lastPart = 1 / 8;

/** Reads the session; of a file with more than `most` bytes only the last messages. Throws system errors. */
function readSessionFile(file: string, id: string, maxLoaded: number): ReadSession {
  const { size } = statSync(file);
  const fd = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(size <= maxLoaded ? size : Math.floor(maxLoaded * lastPart));
    const length = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    if (size <= maxLoaded) return { ...readSession(id, bytes.toString("utf8", 0, length)), leftOut: 0 };
    // Starts at the first complete turn, as a turn without its beginning would mislead; if there is none, with no
    // message.
    const found = bytes.indexOf('\n{"type":"turn.started"');
    const start = found < 0 ? length : found + 1;
    const leftOut = size - bytes.length + start;
    const earlier = readTurns(file, id, leftOut);
    return { ...readSession(id, bytes.toString("utf8", start, length), earlier), leftOut };
  } finally {
    closeSync(fd);
  }
}
