/** What a request is told of the time since the last turn: who changed what, and nothing that pai did as if it were another's. */
import { expect, test } from "bun:test";
import { watchTruth } from "../../src/cli/session/watch-truth.ts";
import type { Change } from "../../src/core/change.ts";
import { digest } from "../../src/core/digest.ts";
import type { StampedEvent } from "../../src/core/event.ts";
import type { Workspace } from "../../src/core/ports.ts";
import type { SessionLine } from "../../src/core/session/line.ts";
import { pastOf } from "../../src/core/session/past.ts";
import { emptySession, foldSession, type Session, type Turn } from "../../src/core/session/session.ts";
import type { OpenSession } from "../../src/store/sessions.ts";
import type { History, KeptRun, Written } from "../../src/workspace/journal/run-history.ts";

const blob = (text: string) => ({ kind: "file", bytes: new TextEncoder().encode(text), mode: 0o644 }) as const;
const hashOf = (text: string) => digest(blob(text).bytes);
const heldOf = (text: string) => `${hashOf(text)} not executable`;

interface Made {
  readonly status: KeptRun["status"];
  readonly task: string;
  readonly before: string;
  readonly after: string;
  readonly isCut?: boolean;
}

/** One file a.py that holds `text`, the runs that changed it, and the turns of a session. */
function openPast(runs: Readonly<Record<string, Made>>, turns: readonly Partial<Turn>[], text: string) {
  const statuses = new Map(Object.entries(runs).map(([id, { status }]) => [id, status]));
  const disk: { text: string; link?: string; movedTo?: string } = { text };
  const [written, redone] = [[] as Written[], new Set<string>()];
  /** What the user's undos and redos wrote, and those runs of the ones asked for that stand. */
  const writtenBy = (asked: ReadonlySet<string>, _since: string, told?: ReadonlySet<string>): readonly Written[] => {
    const known = Object.entries(runs).filter(([id]) => asked.has(id) || told?.has(id) !== false);
    const made = known.map(([id, { before, after, status }]) => {
      const [now, from, to] = [statuses.get(id), heldOf(before), heldOf(after)];
      const isNew = status !== now || redone.has(id);
      const step = { path: "a.py", at: isNew ? "9" : `2026-${id}` };
      return {
        undo: now === "undone" && written.length === 0 ? [{ ...step, before: to, after: from }] : [],
        make: now === "applied" && (isNew || asked.has(id)) ? [{ ...step, before: from, after: to }] : [],
      };
    });
    return [...made.toReversed().flatMap(({ undo }) => undo), ...made.flatMap(({ make }) => make), ...written];
  };
  const history = {
    list: () =>
      Object.entries(runs)
        .filter(([id]) => statuses.has(id))
        .map(([id, { task, isCut = false }]) => {
          const changes = ["a.py", ...(isCut ? ["b.py"] : [])].map((path) => ({ path }));
          return { id, task, status: statuses.get(id), changes, left: [], ...(isCut && { cut: true }) };
        })
        .reverse(),
    work: (id: string) => {
      const { before = "", after = "" } = runs[id] ?? {};
      return [{ path: "a.py", before: blob(before), after: blob(after), from: null } as unknown as Change];
    },
    written: writtenBy,
  } as unknown as History;
  const workspace = {
    root: "/nowhere/w",
    path: (path: string) => path,
    async *walk() {
      yield { path: disk.movedTo ?? "a.py", kind: "file" };
    },
    read: async (path: string) => {
      if (path !== (disk.movedTo ?? "a.py")) return null;
      return disk.link === undefined ? blob(disk.text) : { kind: "link", target: disk.link };
    },
  } as unknown as Workspace;
  const lines: SessionLine[] = [];
  const none = { undone: null, became: "", changed: true, status: "verified", told: [], since: [], request: "" };
  const files = { "a.py": hashOf(Object.values(runs).at(-1)?.after ?? "") };
  const seen = (turn: Partial<Turn>) => (turn.changed === false ? null : { at: "2026", files, head: null });
  const made = (turn: Partial<Turn>) => ({ ...none, seen: seen(turn), ...turn }) as unknown as Turn;
  let session: Session = { ...emptySession("s", "2026"), turns: turns.map(made) };
  /** What another process adds before the next look. */
  const added: Partial<Turn>[] = [];
  const refresh = () => {
    session = { ...session, turns: [...session.turns, ...added.splice(0).map(made)] };
  };
  const open = {
    get session() {
      return session;
    },
    refresh,
    sink({ type, at, run }: StampedEvent) {
      if (type === "run.started") open.add({ type: "turn.started", at, run, mode: "", model: "", request: "" });
    },
    add(line: SessionLine) {
      lines.push(line);
      session = foldSession(session, line);
    },
  } as unknown as OpenSession;
  const truth = watchTruth({ workspace, history, now: () => new Date(0) });
  /** What becomes of a run, and what the file holds then. */
  const become = (run: string, status: Made["status"], now: string) => {
    if (statuses.get(run) === "undone") redone.add(run);
    statuses.set(run, status);
    disk.text = now;
  };
  return { truth, open, disk, statuses, lines, added, written, become, turns: session.turns };
}

const none = { turns: [], pending: [] };
const edit = { task: "set x", before: "x = 1\n", after: "x = 2\n" } as const;

/** One turn, whose edit is there. */
function openApplied() {
  const past = openPast({ r1: { ...edit, status: "applied" } }, [{ run: "r1", request: "set x" }], edit.after);
  past.truth.follow(past.open.session);
  return past;
}

test("an undo is told once, and its file is not called another's work", async () => {
  const past = openApplied();
  expect(await past.truth.catchUp(past.open)).toEqual([]);
  past.become("r1", "undone", edit.before);
  expect(await past.truth.catchUp(past.open)).toEqual(['undone by the user: what you did for "set x"']);
});

const killed = { run: "r1", request: "set x", status: null, changed: false, text: "", diff: "" };

test("of a turn that was killed the next request is told what was taken back", async () => {
  const past = openPast({ r1: { ...edit, status: "rolled_back" } }, [killed], edit.before);
  past.truth.follow(past.open.session);
  expect(await past.truth.catchUp(past.open)).toEqual([]);
  const [told] = pastOf(past.open.session);
  expect(told?.became).toBe("cut off, and what it had changed was taken back: a.py");
  expect(told?.diff).toStartWith("what was taken back:\ndiff --git a/a.py b/a.py\n");
  expect(told?.diff).toContain("-x = 1\n+x = 2\n");
  await past.truth.catchUp(past.open);
  expect(past.lines).toHaveLength(1);
});

test("of one that was killed behind a command what changed since and stays is told by name", async () => {
  const past = openPast({ r1: { ...edit, status: "applied", isCut: true } }, [killed], edit.after);
  past.truth.follow(past.open.session);
  expect(await past.truth.catchUp(past.open)).toEqual([]);
  expect(pastOf(past.open.session)[0]?.became).toBe(
    "cut off, and what it had changed was taken back: b.py; changed since its last command began, and left: a.py",
  );
});

test("what somebody else wrote besides an undo is told as that", async () => {
  const past = openApplied();
  past.become("r1", "undone", `${edit.before}y = 1\n`);
  expect(await past.truth.catchUp(past.open)).toEqual([
    'undone by the user: what you did for "set x"',
    "changed by somebody else, too: a.py",
  ]);
});

test("what another session did and redid is told as another's, and no turn of this one is meant by it", async () => {
  for (const text of ["x = 3\n", "x = 4\n"]) {
    const other = { task: "set y", before: edit.after, after: "x = 3\n", status: "undone" } as const;
    const turn = { run: "r1", request: "set x" };
    const past = openPast({ r2: other, r1: { ...edit, status: "applied" } }, [turn], edit.after);
    past.statuses.delete("r2");
    past.truth.follow(past.open.session);
    past.become("r2", "applied", text);
    expect(await past.truth.catchUp(past.open)).toEqual(["changed, not by you: a.py"]);
  }
});

test("what somebody else wrote before, and an undo left in the file, is no news", async () => {
  const both = { before: `${edit.after}y = 1\n`, after: `${edit.before}y = 1\n` };
  const past = openPast({ r1: { ...edit, status: "applied" } }, [{ run: "r1", request: "set x" }], both.before);
  past.truth.follow(past.open.session);
  const told = "changed, not by you: a.py";
  expect(await past.truth.catchUp(past.open)).toEqual([told]);
  past.truth.sink(past.open, { type: "run.started", at: "2026" } as StampedEvent);
  past.become("r1", "undone", both.after);
  past.written.push({ path: "a.py", at: "9", before: heldOf(both.before), after: heldOf(both.after) });
  expect(await past.truth.catchUp(past.open)).toEqual(['undone by the user: what you did for "set x"']);
  past.disk.text = `${both.after}z = 1\n`;
  expect((await past.truth.catchUp(past.open)).at(-1)).toBe("changed by somebody else, too: a.py");
});

test("a run that was rolled back is brought back by the user, and the session knows it", async () => {
  const turn = { run: "r1", request: "set x", status: "failed", changed: false };
  const past = openPast({ r1: { ...edit, status: "rolled_back" } }, [turn], edit.before);
  past.truth.follow(past.open.session);
  expect(await past.truth.catchUp(past.open)).toEqual([]);
  past.become("r1", "applied", edit.after);
  expect(await past.truth.catchUp(past.open)).toEqual(['brought back by the user: what you did for "set x"']);
  expect(past.lines).toMatchObject([{ type: "turn.reversed", run: "r1", undone: false }]);
});

test("what a rollback left since somebody had changed it is told as undone once the user undoes it", async () => {
  const turn = { run: "r1", request: "set x", status: "failed", changed: false };
  const past = openPast({ r1: { ...edit, status: "rolled_back" } }, [turn], edit.after);
  past.truth.follow(past.open.session);
  past.become("r1", "undone", edit.before);
  expect(await past.truth.catchUp(past.open)).toEqual(['undone by the user: what you did for "set x"']);
  expect(await past.truth.catchUp(past.open)).toEqual(['undone by the user: what you did for "set x"']);
  expect(past.lines).toHaveLength(1);
});

test("a session that is resumed after a rollback invents no change", async () => {
  const turn = { run: "r1", status: "failed", changed: false };
  const past = openPast({ r1: { ...edit, status: "rolled_back" } }, [turn], edit.before);
  past.truth.follow(past.open.session);
  expect(await past.truth.catchUp(past.open)).toEqual([]);
});

test("two runs on one file that are undone together are called no other's work", async () => {
  const second = { ...edit, task: "set y", before: edit.after, after: "x = 3\n" } as const;
  const runs = { r1: { ...edit, status: "applied" }, r2: { ...second, status: "applied" } } as const;
  const turns = [
    { run: "r1", request: "set x" },
    { run: "r2", request: "set y" },
  ];
  const past = openPast(runs, turns, second.after);
  past.truth.follow(past.open.session);
  for (const { run } of turns) past.statuses.set(run, "undone");
  past.disk.text = edit.before;
  expect(await past.truth.catchUp(past.open)).toEqual([
    'undone by the user: what you did for "set x"',
    'undone by the user: what you did for "set y"',
  ]);
});

test("an undo of a run that a summary tells is told, though no turn names it", async () => {
  const { turns: told } = openApplied();
  const summary = { run: "summary", status: "answered", changed: false, told };
  const past = openPast({ r1: { ...edit, status: "undone" } }, [summary], edit.before);
  expect(await past.truth.catchUp(past.open)).toEqual(['undone by the user: what you did for "set x"']);
  expect(past.lines).toMatchObject([{ type: "turn.reversed", run: "r1", undone: true }]);
});

test("a conversation that was cut tells nothing of the files of the turns that are gone", async () => {
  const past = openApplied();
  past.become("r1", "undone", edit.before);
  past.truth.follow(none);
  expect(await past.truth.catchUp({ ...past.open, session: { ...past.open.session, turns: [] } })).toEqual([]);
});

test("files of turns are called no other's work when the conversation was taken back twice before a request", async () => {
  const second = { ...edit, task: "set y", before: edit.after, after: "x = 3\n" } as const;
  const third = { ...edit, task: "set z", before: second.after, after: "x = 4\n" } as const;
  const made = { r1: edit, r2: second, r3: third } as const;
  const runs = Object.fromEntries(Object.entries(made).map(([run, each]) => [run, { ...each, status: "applied" }]));
  const turns = Object.entries(made).map(([run, { after }]) => ({
    run,
    seen: { at: "2026", files: { "a.py": hashOf(after) }, head: null },
  }));
  const past = openPast(runs as Record<string, Made>, turns, third.after);
  past.truth.follow(past.open.session);
  for (const left of [2, 1]) {
    const gone = past.open.session.turns.slice(left);
    past.open.add({ type: "session.rewound", at: "2026", turns: left });
    past.truth.follow(past.open.session, gone);
  }
  expect(await past.truth.catchUp(past.open)).toEqual([]);
});

test("a command of the user that he undid is told as undone", async () => {
  const runs: Record<string, Made> = {};
  const past = openPast(runs, [], edit.before);
  past.truth.follow(none);
  runs["r2"] = { ...edit, task: "!sed -i s/1/2/ a.py", status: "undone" };
  past.statuses.set("r2", "undone");
  expect(await past.truth.catchUp(past.open)).toEqual([
    'undone by the user: what the command changed "!sed -i s/1/2/ a.py"',
  ]);
  past.truth.sink(past.open, { type: "run.started", at: "2026" } as StampedEvent);
  expect(await past.truth.catchUp(past.open)).toEqual([]);
});

test("an undo that was seen before the next request is still told, and one that was taken back meanwhile is not", async () => {
  const past = openApplied();
  past.become("r1", "undone", edit.before);
  past.truth.sync(past.open);
  expect(past.lines).toMatchObject([{ type: "turn.reversed", run: "r1", undone: true }]);
  (past.turns[0] as { undone: boolean }).undone = true;
  expect(await past.truth.catchUp(past.open)).toEqual(['undone by the user: what you did for "set x"']);
  past.become("r1", "applied", edit.after);
  expect(await past.truth.catchUp(past.open)).toEqual([]);
});

test("an undo of a run that committed says that the commit stays", async () => {
  const became = "kept: 1 file (+1 −1), verified by make; changed: a.py; committed as bf3cb3bcdd12";
  const past = openPast({ r1: { ...edit, status: "undone" } }, [{ run: "r1", request: "set x", became }], edit.before);
  expect(await past.truth.catchUp(past.open)).toEqual([
    'undone by the user: what you did for "set x" (its commit stays)',
  ]);
});

test("an undo of a run of nobody's session is not told as the model's work", async () => {
  const past = openPast({ r1: { ...edit, status: "applied" } }, [], edit.after);
  past.truth.follow(none);
  past.become("r1", "undone", edit.before);
  expect(await past.truth.catchUp(past.open)).toEqual(['undone by the user: what another run did for "set x"']);
});

test("what a turn of another process changed is not called somebody else's work", async () => {
  const second = { ...edit, task: "set y", before: edit.after, after: "x = 3\n" } as const;
  const runs: Record<string, Made> = { r1: { ...edit, status: "applied" } };
  const past = openPast(runs, [{ run: "r1", request: "set x" }], edit.after);
  past.truth.follow(past.open.session);
  runs["r2"] = { ...second, status: "applied" };
  past.become("r2", "applied", second.after);
  const seen = { at: "2027", files: { "a.py": hashOf(second.after) }, head: null };
  past.added.push({ run: "r2", request: "set y", seen });
  expect(await past.truth.catchUp(past.open)).toEqual([]);
});

test("of a run that was rolled back somebody else's edit is told, and a look at its own work is no knowledge", async () => {
  const past = openApplied();
  expect(await past.truth.catchUp(past.open)).toEqual([]);
  const own = "x = 3\n";
  const summary = { path: "a.py", op: "modify", from: null, before: hashOf(edit.after), after: hashOf(own) };
  const about = { at: "2026", run: "r2" };
  for (const event of [
    { type: "run.started", ...about },
    { type: "changes.applied", ...about, changes: [summary] },
    { type: "context.sent", ...about, files: [{ path: "a.py", sha256: hashOf(own) }] },
    { type: "changes.rolled_back", ...about, changes: [summary] },
    { type: "run.finished", ...about, outcome: { changes: [], checks: [] } },
  ])
    past.truth.sink(past.open, event as unknown as StampedEvent);
  expect(await past.truth.catchUp(past.open)).toEqual([]);
  past.disk.text = `${edit.after}y = 1\n`;
  expect(await past.truth.catchUp(past.open)).toEqual(["changed, not by you: a.py"]);
});

test("a file that a run left as somebody else had made it is told with the run's end, and not once more", async () => {
  const past = openApplied();
  const summary = { path: "a.py", op: "modify", from: null, before: hashOf(edit.after), after: hashOf("x = 3\n") };
  past.disk.text = "x = 4\n";
  for (const event of [
    { type: "run.started", at: "2026", run: "r2" },
    { type: "run.finished", at: "2026", run: "r2", outcome: { changes: [summary], checks: [], left: ["a.py"] } },
  ])
    past.truth.sink(past.open, event as unknown as StampedEvent);
  expect(await past.truth.catchUp(past.open)).toEqual([]);
});

test("a link in place of a file is told with what it leads to, and again when it leads elsewhere", async () => {
  const past = openApplied();
  const told = (target: string) => [`changed, not by you: a.py (a link to ${target} now)`];
  past.disk.link = "/etc/hostname";
  expect(await past.truth.catchUp(past.open)).toEqual(told("/etc/hostname"));
  past.truth.sink(past.open, { type: "run.started", at: "2027-01", run: "r2" } as StampedEvent);
  expect(await past.truth.catchUp(past.open)).not.toContain(told("/etc/hostname")[0]);
  past.disk.link = "b.py";
  expect(await past.truth.catchUp(past.open)).toContain(told("b.py")[0] ?? "");
});

test("what a turn of another process changed while this one's went on is not called somebody else's work", async () => {
  const past = openApplied();
  past.truth.sink(past.open, { type: "run.started", at: "2027-01", run: "r2" } as StampedEvent);
  past.disk.text = "x = 3\n";
  past.added.push({
    run: "other",
    request: "set y",
    seen: { at: "2027-02", files: { "a.py": hashOf("x = 3\n") }, head: null },
  });
  const ended = { type: "run.finished", at: "2027-03", run: "r2", outcome: { changes: [], checks: [] } };
  past.truth.sink(past.open, ended as unknown as StampedEvent);
  expect(await past.truth.catchUp(past.open)).toEqual([]);
});

test("what somebody changed during a turn is told with its end and not once more, but a later change of it is", async () => {
  const past = openApplied();
  const own = "x = 3\n";
  const summary = { path: "a.py", op: "modify", from: null, before: hashOf(edit.after), after: hashOf(own) };
  past.disk.text = `${own}mine\n`;
  for (const event of [
    { type: "run.started", at: "2026", run: "r2" },
    { type: "run.finished", at: "2026", run: "r2", outcome: { changes: [summary], checks: [], merged: ["a.py"] } },
  ])
    past.truth.sink(past.open, event as unknown as StampedEvent);
  expect(await past.truth.catchUp(past.open)).toEqual([]);
  expect(past.lines.at(-1)).toMatchObject({ type: "turn.saw", files: { "a.py": heldOf(past.disk.text) } });
  past.disk.text += "more\n";
  expect(await past.truth.catchUp(past.open)).toEqual(["changed, not by you: a.py"]);
});

test("a process is not told that its own turn has ended, though a turn of another one began meanwhile", async () => {
  const past = openPast({}, [], edit.after);
  past.truth.follow(past.open.session);
  past.truth.sink(past.open, { type: "run.started", at: "2027-01", run: "r2" } as StampedEvent);
  past.added.push({ run: "other", request: "set y", seen: null });
  past.open.refresh();
  past.open.add({ type: "turn.finished", at: "2027-03", run: "r2", became: "kept" } as unknown as SessionLine);
  expect(past.open.session.pending).toHaveLength(1);
  expect(await past.truth.catchUp(past.open)).toEqual([]);
});

test("a file that somebody moved is told with its new place, and what they then change there is told, too", async () => {
  const past = openApplied();
  past.disk.movedTo = "lib/b.py";
  const told = "changed, not by you: a.py (no file now; lib/b.py holds the same)";
  expect(await past.truth.catchUp(past.open)).toEqual([told]);
  past.truth.sink(past.open, { type: "run.started", at: "2027-01", run: "r2" } as StampedEvent);
  past.disk.text = "x = 3\n";
  expect((await past.truth.catchUp(past.open)).at(-1)).toBe("changed, not by you: lib/b.py");
});
