/** Session files on a real disk: private, listed newest first, gone on with, pruned. */
import { beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StampedEvent } from "../../src/core/event.ts";
import type { Call, Message } from "../../src/core/model.ts";
import { failedOutcome } from "../../src/core/outcome.ts";
import { type OpenSession, openSessions, type Sessions } from "../../src/store/sessions.ts";
import { newFolder } from "../grounds.ts";

let base = "";
let folder = "";
let sessions: Sessions;
let tick = 0;
const now = () => new Date(Date.UTC(2026, 0, 1, 0, 0, tick));
const warn = (text: string) => {
  throw new Error(text);
};

beforeEach(() => {
  base = newFolder("disk", "sessions");
  folder = join(base, "sessions");
  sessions = openSessions(base, "/w");
  tick = 0;
});

const stamp = { run: "r1", seq: 1, at: "2026-01-01T00:00:00Z" };
const begin = (task: string, run = "r1"): StampedEvent => ({
  ...{ type: "run.started", v: 1, pai: "0", task, mode: "single-shot", model: "m", root: "/w", ...stamp, run },
});
const failed = failedOutcome("run", { code: "failed", message: "", hint: null, retry_after: null });
const outcome = { ...failed, status: "answered", text: "hi", next: ["more"] } as const;
const end = (run = "r1"): StampedEvent => ({ type: "run.finished", outcome, ...stamp, run });

function talk(task: string): string {
  tick += 1;
  const open = sessions.open(null, now, warn);
  open.sink(begin(task));
  open.sink(end());
  open.close();
  return open.session.id;
}

test("what happened before the first turn is kept with it, and leaves no trace without one", () => {
  const open = sessions.open(null, now, warn);
  open.add({ type: "session.noted", at: stamp.at, what: "command", run: null, text: "the user ran $ ls (exit 0)" });
  expect(existsSync(folder)).toBe(false);
  open.sink(begin("one"));
  open.close();
  expect(sessions.load(null).session.turns).toMatchObject([{ since: [{ text: "the user ran $ ls (exit 0)" }] }]);
});

test("folder 0700, file 0600, and the session comes back as it was", () => {
  const id = talk("one");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, `${id}.jsonl`)).mode & 0o777).toBe(0o600);
  const { session } = sessions.load(null);
  expect(session.turns).toMatchObject([{ request: "one", status: "answered", text: "hi", next: ["more"] }]);
});

test("a session is gone on with in the same file", () => {
  const id = talk("one");
  const open = sessions.open(sessions.load(id).session, now, warn);
  open.sink(begin("two", "r2"));
  open.sink(end("r2"));
  open.close();
  expect(sessions.load(id.slice(0, 10)).session.turns.map(({ request }) => request)).toEqual(["one", "two"]);
  expect(sessions.list().length).toBe(1);
});

test("lists newest first with the beginning of the first request, never cut inside a character", () => {
  talk("first");
  const wide = "🙂".repeat(100);
  talk(wide);
  const previews = sessions.list().map(({ preview }) => preview);
  expect(previews.toSorted()).toEqual(["first", "🙂".repeat(80)]);
  expect(sessions.list()[0]?.turns).toBe(1);
});

test("an unknown, ambiguous or hostile id is a usage error", () => {
  talk("one");
  talk("two");
  for (const id of ["zzz", "2026", "../../etc/passwd"])
    expect(() => sessions.load(id)).toThrow(expect.objectContaining({ code: "usage", hint: "see: pai resume --list" }));
  expect(() => openSessions(join(base, "none"), "/w").load(null)).toThrow("no session here yet");
});

test("an id of another folder's session names the folder, and says when it is gone", () => {
  const stateDir = join(base, "state");
  const open = (root: string) => openSessions(join(stateDir, `${root.replaceAll("/", "-")}-0123456789ab`), root);
  sessions = open(base);
  const there = talk("there");
  sessions = open("/gone/for good");
  const gone = talk("gone");
  const here = open("/w");
  expect(() => here.load(there)).toThrow(`session ${there} belongs to ${base}`);
  expect(() => here.load(there)).toThrow(expect.objectContaining({ code: "usage", hint: `go on there: -C '${base}'` }));
  expect(() => here.load(gone)).toThrow(`session ${gone} belongs to /gone/for good, which is gone`);
  for (const id of ["zzz", "../../etc/passwd"]) expect(() => here.load(id)).toThrow(`unknown session: ${id}`);
});

test("secrets are masked before they are written", () => {
  const id = talk("use AIzaSyA1234567890abcdefghijklmnopqrstu please");
  expect(readFileSync(join(folder, `${id}.jsonl`), "utf8")).not.toContain("AIzaSyA1234567890abcdefghijklmnopqrstu");
});

test("files that are not sessions, and links, are passed over", () => {
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, "notes.txt"), "x");
  writeFileSync(join(folder, "20260101-000000-zzzzzzzz.jsonl"), "not json");
  symlinkSync("/etc/passwd", join(folder, "20260101-000000-aaaaaaaa.jsonl"));
  expect(sessions.list()).toEqual([]);
});

test("a session file in which no turn can be read is named, a session without a turn is not", () => {
  const empty = sessions.open(null, now, warn);
  empty.add({ type: "tasks.updated", tasks: [] });
  empty.close();
  expect(sessions.unreadable()).toEqual([]);
  const file = join(folder, "20260101-000000-aaaaaaaa.jsonl");
  writeFileSync(file, '{"type":"turn.star');
  expect([sessions.list(), sessions.unreadable()]).toEqual([[], [file]]);
  const refusal = { message: "no session here yet", hint: `cannot be read: ${file}` };
  expect(() => sessions.load(null)).toThrow(expect.objectContaining(refusal));
  talk("one");
  expect([sessions.list().length, sessions.unreadable()]).toEqual([1, [file]]);
});

test("a session that cannot be written warns once and goes on", () => {
  writeFileSync(folder, "a file where the folder should be");
  const told: string[] = [];
  const open = sessions.open(null, now, (text) => told.push(text));
  open.sink(begin("one"));
  open.sink(end());
  expect(told.length).toBe(1);
  expect(open.session.turns.length).toBe(1);
});

test("prune keeps the newest", () => {
  talk("one");
  talk("two");
  expect(sessions.prune(1)).toBe(1);
  expect(sessions.list().length).toBe(1);
});

/** Turns of one message each; after every fifth a summary takes the place of all. */
function talkLong(open: OpenSession, turns: number): void {
  for (let at = 0; at < turns; at += 1) {
    const message = { role: "user", text: `message ${at} ${"long ".repeat(60)}` } as const;
    const summary = { role: "user", text: `summary up to ${at}` } as const;
    open.sink(begin(`task ${at}`, `r${at}`));
    open.sink({ type: "message.added", message, ...stamp });
    if (at % 5 === 4) open.sink({ type: "conversation.replaced", messages: [summary], ...stamp });
    open.sink(end(`r${at}`));
  }
}
const firstWords = ({ session }: OpenSession) =>
  session.conversation.messages.map((message) => (message.role === "user" ? message.text.split(" long")[0] : "answer"));
const goBack = (open: OpenSession, turns: number) =>
  open.add({ type: "session.rewound", at: "2026-01-01T00:00:00Z", turns });

test("what summaries took the place of is there again for going back, also in a session that is loaded", () => {
  const open = sessions.open(null, now, warn);
  talkLong(open, 100);
  expect(sessions.list()).toMatchObject([{ turns: 100, preview: "task 0" }]);
  goBack(open, 57);
  expect(firstWords(open)).toEqual(["summary up to 54", "answer", "message 55", "answer", "message 56", "answer"]);
  goBack(open, 13);
  const back = firstWords(open);
  expect(back.slice(0, 3)).toEqual(["summary up to 9", "answer", "message 10"]);
  const again = sessions.open(sessions.load(open.session.id).session, now, warn);
  expect(firstWords(again)).toEqual(back);
  goBack(again, 7);
  expect(firstWords(again).slice(0, 3)).toEqual(["summary up to 4", "answer", "message 5"]);
  expect(again.session.turns.length).toBe(7);
});

test("an open session takes in the turns that another process added, once", () => {
  const mine = sessions.open(null, now, warn);
  mine.refresh();
  for (const event of [begin("fix it"), end()]) mine.sink(event);
  const other = sessions.open(sessions.load(null).session, now, warn);
  for (const event of [begin("and test it", "r2"), end("r2")]) other.sink(event);
  other.close();
  expect(mine.session.turns.map(({ request }) => request)).toEqual(["fix it"]);
  mine.refresh();
  const { session } = mine;
  const turns = ["fix it", "and test it"].map((request) => ({ request, status: "answered" }));
  expect(session.turns).toMatchObject(turns);
  mine.sink(begin("what now?", "r3"));
  mine.refresh();
  expect(mine.session.turns).toHaveLength(3);
  expect(mine.session.turns[0]).toBe(session.turns[0] as (typeof session.turns)[0]);
  mine.close();
});

test("two processes that speak at once leave an open session its own conversation, and the turns of both", () => {
  const said = (message: Message, run: string): StampedEvent => ({ type: "message.added", message, ...stamp, run });
  const asks = (text: string): Message => ({ role: "user", text });
  const answers = (text: string, calls: readonly Call[] = []): Message => ({
    ...{ role: "assistant", text, calls, native: null },
  });
  const loop = (task: string, run: string) => ({ ...begin(task, run), mode: "tool-loop" }) as StampedEvent;
  const mine = sessions.open(null, now, warn);
  for (const event of [loop("look", "r1"), said(asks("look"), "r1"), said(answers("It is so."), "r1"), end("r1")])
    mine.sink(event);
  const other = sessions.open(sessions.load(null).session, now, warn);
  const look = { id: "c1", name: "read", input: {} };
  for (const event of [loop("go on", "r3"), said(asks("go on"), "r3"), said(answers("", [look]), "r3")])
    mine.sink(event);
  for (const event of [loop("and?", "r2"), said(asks("and?"), "r2"), said(answers("So."), "r2"), end("r2")])
    other.sink(event);
  const seen: Message = { role: "tools", results: [{ id: "c1", name: "read", ok: true, text: "x" }] };
  for (const event of [said(seen, "r3"), said(answers("Done."), "r3"), end("r3")]) mine.sink(event);
  const before = mine.session.conversation;
  mine.refresh();
  expect(mine.session.conversation).toEqual(before);
  expect(mine.session.turns.map(({ run }) => run)).toEqual(["r1", "r3", "r2"]);
  for (const open of [mine, other]) open.close();
});
