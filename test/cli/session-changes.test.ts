/** What /diff shows: the whole work of a session, also of files that several of its runs changed. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { changesOfSession } from "../../src/cli/session/rewind.ts";
import { renderChanges } from "../../src/core/diff.ts";
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
