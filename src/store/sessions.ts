/** Session files in the user's state folder: a JSON line for each event, appended as it happens. */
import { readFileSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { quoteForShell } from "../core/command/quote.ts";
import { orNull, PaiError, toPaiError } from "../core/error.ts";
import type { StampedEvent } from "../core/event.ts";
import { maskSecrets } from "../core/secrets/key-shapes.ts";
import { type Printed, turnRecord } from "../core/session/became.ts";
import type { SessionLine } from "../core/session/line.ts";
import {
  emptySession,
  foldSession,
  markOf,
  type ReadSession,
  readSession,
  type Session,
} from "../core/session/session.ts";
import { findId, nameSome } from "../core/suggest.ts";
import { rowOf } from "../core/vocabulary.ts";
import { entryAt } from "../system/lookups.ts";
import { recordsIn, rootIn } from "./belongings.ts";
import { listJsonl, openLines } from "./safe-file.ts";

export type OpenSession = ReturnType<typeof follow>;
export type Sessions = ReturnType<typeof openSessions>;

export interface SessionSummary {
  readonly id: string;
  readonly changed: number;
  readonly turns: number;
  readonly preview: string;
  readonly bytes: number;
}

const idShape = /^\d{8}-\d{6}-[0-9a-f]{8}$/;

const stamp = (at: Date) => at.toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);

/** `stateFolder` of one workspace; null: no session is kept. Its folder of sessions is made with the first line. */
export function openSessions(stateFolder: string | null, root: string) {
  const folder = stateFolder === null ? null : join(stateFolder, "sessions");
  const fileOf = (id: string) => join(folder ?? "", `${id}.jsonl`);
  const ids = () => (folder === null ? [] : listJsonl(folder).filter((id) => idShape.test(id)));
  const read = (id: string) => readSession(id, readFileSync(fileOf(id), "utf8"));
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
  const list = (): readonly SessionSummary[] =>
    ids()
      .flatMap(summarize)
      .sort((a, b) => b.changed - a.changed);
  const isUnreadable = (id: string): boolean => {
    const found = orNull(() => read(id));
    return found === null || (found.session.turns.length === 0 && found.damaged > 0);
  };
  /** Paths of session files that hold something, but no turn that can be read. */
  const unreadable = (): readonly string[] =>
    ids()
      .filter((id) => summarize(id).length === 0 && isUnreadable(id))
      .map(fileOf);

  return {
    folder,
    list,
    unreadable,
    /** By id, by the unique beginning of an id, or the newest (null). Throws usage if none or several match. */
    load(wanted: string | null): ReadSession {
      if (folder === null) throw new PaiError("usage", "no sessions are kept here");
      if (wanted !== null) {
        const id = findId(ids(), wanted, "sessions", "see: pai resume --list");
        if (id === null) throw unknownSession(join(folder, "../.."), wanted);
        return read(id);
      }
      const [newest] = list();
      if (newest !== undefined) return read(newest.id);
      const lost = unreadable();
      const hint = lost.length === 0 ? null : `cannot be read: ${nameSome(lost)}`;
      throw new PaiError("usage", "no session here yet", { hint });
    },
    open(loaded: Session | null, now: () => Date, warn: (text: string) => void) {
      const at = now();
      if (folder === null) return follow(emptySession("", at.toISOString()), nowhere, { root, now, isNew: false });
      const id = loaded?.id ?? `${stamp(at)}-${crypto.randomUUID().slice(0, 8)}`;
      const file = openAppend(fileOf(id), warn, () => read(id).session);
      const session = loaded ?? emptySession(id, at.toISOString());
      return follow(session, file, { root, now, isNew: loaded === null });
    },
    prune(keep: number): number {
      const old = list().slice(keep);
      for (const { id } of old) rmSync(fileOf(id), { force: true });
      return old.length;
    },
  };
}

/** What to say of an id that no session here has: whose it is, by the sessions of all folders. */
function unknownSession(stateDir: string, wanted: string): PaiError {
  const files = recordsIn(stateDir, "sessions").filter((file) => basename(file).startsWith(wanted));
  const [root] = files.flatMap(rootIn);
  if (root === undefined)
    return new PaiError("usage", `unknown session: ${wanted}`, { hint: "see: pai resume --list" });
  const isGone = entryAt(root) === undefined;
  return new PaiError("usage", `session ${wanted} belongs to ${root}${isGone ? ", which is gone" : ""}`, {
    hint: isGone ? "it goes on in a new folder at that path" : `go on there: -C ${quoteForShell(root)}`,
  });
}

type Append = ReturnType<typeof openAppend>;

/** A session that is not saved (--ephemeral). */
const nowhere: Append = { write: () => {}, news: () => null, close: () => {} };

function openAppend(file: string, warn: (text: string) => void, read: () => Session) {
  const sizeNow = () => Bun.file(file).size;
  let broken = false;
  const lines = openLines(file, false, (thrown) => {
    broken = true;
    warn(`the session cannot be saved: ${toPaiError(thrown, file).message}`);
  });
  /** Bytes of the file without those of others that are news. */
  let known = sizeNow();
  return {
    write(line: SessionLine): void {
      const hide = (_: string, value: unknown) => (typeof value === "string" ? maskSecrets(value) : value);
      const bytes = Buffer.from(`${JSON.stringify(line, hide)}\n`);
      lines.write(bytes);
      known += bytes.length;
    },
    /** The session of the file, if another process has written there since this was last asked; null: none has. */
    news(): Session | null {
      const size = broken ? known : sizeNow();
      if (size === known) return null;
      known = size;
      return orNull(read);
    },
    close: lines.close,
  };
}

function follow(start: Session, file: Append, { root, now, isNew }: { root: string; now: () => Date; isNew: boolean }) {
  let session = start;
  let begun = !isNew;
  /** Lines before the first turn. They are written with it, since a session without a turn leaves no file. */
  const early: SessionLine[] = [];
  /** Appends a line and applies it. If the file cannot be written, it warns once and the session continues unsaved. */
  const add = (line: SessionLine): void => {
    session = foldSession(session, line);
    if (!begun && line.type.startsWith("session.")) return void early.push(line);
    if (!begun) {
      begun = true;
      file.write({ type: "session.started", v: 1, id: session.id, at: now().toISOString(), root });
      for (const each of early) file.write(each);
    }
    file.write(line);
  };
  const printed: Printed = { checks: new Map(), commands: new Map() };
  return {
    get session(): Session {
      return session;
    },
    add,
    refresh(): void {
      const news = file.news();
      if (news === null) return;
      // Processes that spoke at the same time leave a mixture in the file that no provider takes.
      const { conversation, replaced, turns: own } = session;
      const begun = news.conversation.messages.slice(0, conversation.messages.length);
      const now = markOf(session);
      const beforeOf = (run: string) => own.find((turn) => turn.run === run)?.before ?? now;
      const turns = news.turns.map((turn) => ({ ...turn, before: beforeOf(turn.run) }));
      const isMixed = JSON.stringify(begun) !== JSON.stringify(conversation.messages);
      session = isMixed ? { ...news, turns, conversation, replaced } : news;
    },
    /** Takes every event of a run and saves those that belong to a session. Never throws. */
    sink(event: StampedEvent): void {
      notePrinted(printed, event);
      const line = lineOf(event, printed);
      if (line !== null) add(line);
    },
    close: () => file.close(),
  };
}

function notePrinted({ checks, commands }: Printed, event: StampedEvent): void {
  if (event.type === "run.started") for (const each of [checks, commands]) each.clear();
  if (event.type === "check.finished" && event.when === "after") checks.set(event.command, event.output);
  if (event.type !== "look.shown" || rowOf(event.action)?.kind !== "command") return;
  commands.delete(event.target);
  commands.set(event.target, event.text);
}

/** The session line for an event; null: sessions do not keep this kind. `printed`: what its run printed. */
function lineOf(event: StampedEvent, printed: Printed): SessionLine | null {
  switch (event.type) {
    case "run.started": {
      const { at, run, mode, model, task: request } = event;
      return { type: "turn.started", at, run, mode, model, request };
    }
    case "message.added":
    case "conversation.replaced":
    case "files.known":
    case "tasks.updated": {
      const { run: _run, seq: _seq, at: _at, ...line } = event;
      return line;
    }
    case "run.finished": {
      const { at, run, outcome } = event;
      const { mode, status, next, score, changes, left, dry_run } = outcome;
      const calls = outcome.calls.sent ?? outcome.calls.made;
      const changed = changes.length > 0 && left === undefined && dry_run !== true;
      const record = turnRecord(outcome, printed);
      return { type: "turn.finished", at, run, mode, status, ...record, next, score, calls, changed };
    }
    default:
      return null;
  }
}

const turnLine = /^\{"type":"(?:turn|session)\./;

/** The turns alone: their messages take most of the space, and of the time that reading takes. */
function readTurns(file: string, id: string): Session {
  const lines = readFileSync(file, "utf8").split("\n");
  return readSession(id, lines.filter((line) => turnLine.test(line)).join("\n")).session;
}
