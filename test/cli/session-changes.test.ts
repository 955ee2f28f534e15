/** What a session changed, and rewinding. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { changesOfSession, rewindTalk } from "../../src/cli/session/rewind.ts";
import type { Talk } from "../../src/cli/session/talk.ts";
import { renderChanges } from "../../src/core/diff.ts";
import { PaiError } from "../../src/core/error.ts";
import type { RelPath } from "../../src/core/path.ts";
import { makeFolder, openHere } from "../flows/scripted.ts";

const text = (content: string) => ({ kind: "file", bytes: new TextEncoder().encode(content), mode: 0o644 }) as const;

test("a file made by one run and changed by the next is one new file; undone runs and others' work are left out", async () => {
  const place = makeFolder();
  const { workspace, history } = await openHere(place);
  const path = "a.txt" as RelPath;
  const steps = [null, "one\n", "one\ntwo\n", "one\ntwo\nthree\n"];
  const ids = ["20260101-000000000-0001", "20260101-000000000-0002", "20260101-000000000-0003"];
  for (const [at, id] of ids.entries()) {
    const transaction = await workspace.begin({ id, task: "x" });
    const before = steps[at] ?? null;
    await transaction.apply([
      { path, before: before === null ? null : text(before), after: text(steps[at + 1] ?? ""), from: null },
    ]);
    await transaction.close();
  }
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
  const run = "20260101-000000000-0001";
  const transaction = await workspace.begin({ id: run, task: "x" });
  await transaction.apply([{ path: "a.txt" as RelPath, before: null, after: text("one\n"), from: null }]);
  await transaction.close();
  const turns = [{ run: "summary", told: [{ run, told: [] }] }];
  expect(changesOfSession(history, { turns } as never).map(({ path }): string => path)).toEqual(["a.txt"]);
});

test("what somebody wrote between two runs is none of the session's changes", async () => {
  const place = makeFolder();
  const { workspace, history } = await openHere(place);
  const path = "a.txt" as RelPath;
  const runs = [
    ["20260101-000000000-0001", null, "one\n"],
    ["20260101-000000000-0002", "one\nby hand\n", "two\nby hand\n"],
    ["20260101-000000000-0003", "two\nby hand\n", "two\nby hand\nthree\n"],
  ] as const;
  for (const [id, before, after] of runs) {
    if (before !== null) writeFileSync(join(place.root, path), before);
    const transaction = await workspace.begin({ id, task: "x" });
    await transaction.apply([{ path, before: before === null ? null : text(before), after: text(after), from: null }]);
    await transaction.close();
  }
  const diff = renderChanges(changesOfSession(history, { turns: runs.map(([run]) => ({ run, told: [] })) } as never));
  expect(diff.match(/^[-+](?![-+]).*$/gm)).toEqual(["+one", "-one", "+two", "+three"]);
});

/** A session of three turns, each with a run; `undo` of the first run does what is told. */
function openTalk(undoFirst: () => Promise<{ clashes: { path: string }[]; lost: string[] }>) {
  const did: string[] = [];
  const history = {
    list: () => ["r3", "r2", "r1"].map((id) => ({ id, status: "applied", changes: [], left: [] })),
    async undo(id: string) {
      did.push(`undo ${id}`);
      return id === "r1" ? undoFirst() : { clashes: [], lost: [] };
    },
    async redo(id: string) {
      did.push(`redo ${id}`);
      return { clashes: [], lost: [] };
    },
  };
  const turns = ["r1", "r2", "r3"].map((run) => ({ run, told: [] }));
  const talk = { open: { session: { turns } }, composed: { opened: { history, workspace: {} } }, context: {} };
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
