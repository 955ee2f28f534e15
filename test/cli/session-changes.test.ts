/** What a session changed, and rewinding. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { changesOfSession, rewindTalk } from "../../src/cli/session/rewind.ts";
import type { Talk } from "../../src/cli/session/talk.ts";
import { renderChanges } from "../../src/core/diff.ts";
import { PaiError } from "../../src/core/error.ts";
import type { RelPath } from "../../src/core/path.ts";
import type { Workspace } from "../../src/core/ports.ts";
import { makeFolder, openHere } from "../flows/scripted.ts";

const text = (content: string) => ({ kind: "file", bytes: new TextEncoder().encode(content), mode: 0o644 }) as const;

/** Runs that each write a.txt: their ids, what it held (null: no file), and what it holds then. */
async function runAll(workspace: Workspace, runs: readonly (readonly [string, string | null, string])[]) {
  for (const [id, before, after] of runs) {
    const transaction = await workspace.begin({ id, task: "x" });
    const change = { path: "a.txt" as RelPath, before: before === null ? null : text(before), after: text(after) };
    await transaction.apply([{ ...change, from: null }]);
    await transaction.close();
  }
}

const ids = ["20260101-000000000-0001", "20260101-000000000-0002", "20260101-000000000-0003"] as const;

test("a file made by one run and changed by the next is one new file; undone runs and others' work are left out", async () => {
  const place = makeFolder();
  const { workspace, history } = await openHere(place);
  await runAll(workspace, [
    [ids[0], null, "one\n"],
    [ids[1], "one\n", "one\ntwo\n"],
    [ids[2], "one\ntwo\n", "one\ntwo\nthree\n"],
  ]);
  const told = (runs: readonly string[]) =>
    changesOfSession(history, { turns: runs.map((run) => ({ run, told: [] })) } as never).map(({ before, after }) =>
      [before, after].map((blob) => (blob?.kind === "file" ? new TextDecoder().decode(blob.bytes) : null)),
    );
  expect(told(ids.slice(0, 2))).toEqual([[null, "one\ntwo\n"]]);
  expect(told(ids.slice(1))).toEqual([["one\n", "one\ntwo\nthree\n"]]);
  await history.undo(null, { dryRun: false });
  expect(told(ids)).toEqual([[null, "one\ntwo\n"]]);
  writeFileSync(join(place.root, "a.txt"), "by hand\n");
  expect(told(ids)).toEqual([[null, "one\ntwo\n"]]);
});

test("what turns changed that a summary tells is among the session's changes", async () => {
  const place = makeFolder();
  const { workspace, history } = await openHere(place);
  const [run] = ids;
  await runAll(workspace, [[run, null, "one\n"]]);
  const turns = [{ run: "summary", told: [{ run, told: [] }] }];
  expect(changesOfSession(history, { turns } as never).map(({ path }): string => path)).toEqual(["a.txt"]);
});

test("what somebody wrote between two runs is none of the session's changes", async () => {
  const place = makeFolder();
  const { workspace, history } = await openHere(place);
  const runs = [
    [ids[0], null, "one\n"],
    [ids[1], "one\nby hand\n", "two\nby hand\n"],
    [ids[2], "two\nby hand\n", "two\nby hand\nthree\n"],
  ] as const;
  for (const run of runs) {
    if (run[1] !== null) writeFileSync(join(place.root, "a.txt"), run[1]);
    await runAll(workspace, [run]);
  }
  const diff = renderChanges(changesOfSession(history, { turns: runs.map(([run]) => ({ run, told: [] })) } as never));
  expect(diff.match(/^[-+](?![-+]).*$/gm)).toEqual(["+one", "-one", "+two", "+three"]);
});

/** A session of three turns, each with a run; `undo` of the first run does what is told. */
function openTalk(
  undoFirst: () => Promise<{ clashes: { path: string }[]; lost: string[]; changes?: object[] }>,
  { left = [], gone = [] }: { readonly left?: readonly string[]; readonly gone?: readonly string[] } = {},
) {
  const did: string[] = [];
  // An empty place names no path, so nobody is asked.
  const list = (id: string) => {
    const status = left.includes(id) ? "rolled_back" : "applied";
    return { id, status, changes: [], left: Array(1) };
  };
  const history = {
    list: () => ["r3", "r2", "r1"].map(list),
    // What stands in the way comes behind the trial.
    async undo(id: string, { dryRun }: { readonly dryRun: boolean }) {
      const changes = gone.includes(id) ? [] : [{}];
      if (dryRun) return { clashes: [], lost: [], changes };
      did.push(`undo ${id}`);
      if (id === "r1") return undoFirst();
      return { clashes: id === "r2" && left.includes(id) ? [{ path: "b.py" }] : [], lost: [], changes };
    },
    async redo(id: string) {
      did.push(`redo ${id}`);
      return { clashes: [], lost: [] };
    },
  };
  const turns = ["r1", "r2", "r3"].map((run) => ({ run, told: [] }));
  const view = { notify: ({ text }: { text: string }) => did.push(text) };
  const talk = {
    open: { session: { turns, pending: [] } },
    composed: { opened: { history, workspace: {}, stateFolder: null } },
    context: {},
    view,
  };
  return { did, talk: talk as unknown as Talk };
}

test.each([
  ["a file that was changed since", async () => ({ clashes: [{ path: "a.py" }], lost: [] }), "conflict"],
  ["an error", () => Promise.reject(new PaiError("io_failed", "the disk is gone")), "io_failed"],
])("%s brings back the runs that were taken back before it", async (_, undoFirst, code) => {
  const { did, talk } = openTalk(undoFirst);
  expect(rewindTalk(talk, "1 code")).rejects.toMatchObject({ code });
  await Bun.sleep(0);
  expect(did).toEqual(["undo r3", "undo r2", "undo r1", "redo r2", "redo r3"]);
});

test("what a rollback left and somebody changed since stays and is named; a failure brings back no run that was rolled back", async () => {
  const { did, talk } = openTalk(() => Promise.reject(new PaiError("io_failed", "the disk is gone")), {
    left: ["r2", "r3"],
  });
  const failed = await rewindTalk(talk, "1 code").catch((thrown) => thrown.code);
  const before = ["undo r3", "undo r2", "left as somebody else changed it: b.py", "undo r1"];
  expect([failed, ...did]).toEqual(["io_failed", ...before]);
});

test("a rewind says how often /redo brings back what it took back", async () => {
  const { did, talk } = openTalk(async () => ({ clashes: [], lost: [], changes: [{}] }));
  await rewindTalk(talk, "1 code");
  expect(did.at(-1)).toEndWith("3 runs taken back; bring back with: /redo, once for each");
  await rewindTalk(talk, "3 code");
  expect(did.at(-1)).toEndWith("1 run taken back; bring back with: /redo");
});
