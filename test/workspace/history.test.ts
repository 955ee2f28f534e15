/** Undo and redo as a stack over runs, without git, refusing what changed since. */
import { expect, test } from "bun:test";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { digest } from "../../src/core/digest.ts";
import { openHistory } from "../../src/workspace/journal/run-history.ts";
import { change, file, makePlace, type Opened, openPlace, treeOf } from "./tree.ts";

const open = (files: Record<string, string> = {}) => {
  const place = makePlace(files);
  const opened = openPlace(place);
  return { place, opened, history: opened.history };
};

const run = async (opened: Opened, id: string, ...changes: ReturnType<typeof change>[]) => {
  const tx = opened.begin(id, `task of ${id}`);
  await tx.apply(changes);
  await tx.close();
};
const now = { dryRun: false };
const hashOf = (text: string) => digest(new TextEncoder().encode(text));

test("undo goes back run by run, redo forward again, to the byte and mode", async () => {
  const { place, opened, history } = open({ "a.txt": "1" });
  const trees = [treeOf(place.work)];
  await run(opened, "r1", change("a.txt", file("1"), file("2", 0o755)));
  trees.push(treeOf(place.work));
  await run(opened, "r2", change("a.txt", file("2", 0o755), null), change("d/b.txt", null, file("b")));
  trees.push(treeOf(place.work));

  expect((await history.undo(null, now)).run).toMatchObject({ id: "r2", status: "undone" });
  expect(treeOf(place.work)).toEqual(trees[1] ?? {});
  expect((await history.undo(null, now)).run.id).toBe("r1");
  expect(treeOf(place.work)).toEqual(trees[0] ?? {});
  await expect(history.undo(null, now)).rejects.toMatchObject({ code: "nothing_to_undo" });
  expect((await history.redo(null, now)).run.id).toBe("r1");
  expect(treeOf(place.work)).toEqual(trees[1] ?? {});
  expect((await history.redo(null, now)).run.id).toBe("r2");
  expect(treeOf(place.work)).toEqual(trees[2] ?? {});
  await expect(history.redo(null, now)).rejects.toMatchObject({ code: "nothing_to_undo" });
  expect((await history.undo(null, now)).run.id).toBe("r2");
});

test("of two runs at once the one that ended last is undone first", async () => {
  const { opened, history } = open({ "a.txt": "1", "b.txt": "1" });
  const early = opened.begin("r1");
  await early.apply([change("a.txt", file("1"), file("2"))]);
  await run(opened, "r2", change("b.txt", file("1"), file("2")));
  await Bun.sleep(2);
  await early.close();
  expect((await history.undo(null, now)).run.id).toBe("r1");
  expect((await history.undo(null, now)).run.id).toBe("r2");
});

test("what undos and redos of runs after a time wrote is told in their order", async () => {
  const { opened, history } = open({ "a.txt": "1" });
  const step = (after: string) => ({ path: "a.txt", after: `${hashOf(after)} not executable`, merged: false });
  await run(opened, "r1", change("a.txt", file("1"), file("2")));
  await run(opened, "r2", change("a.txt", file("2"), file("3")));
  const told = (runs: readonly string[], since: string) => history.written(new Set(runs), since);
  expect(told(["r1", "r2"], "")).toEqual([]);
  await history.undo("r2", now);
  await Bun.sleep(2);
  await history.undo("r1", now);
  expect(told(["r1", "r2"], "")).toEqual([step("2"), step("1")]);
  await Bun.sleep(2);
  const since = new Date().toISOString();
  await Bun.sleep(2);
  await history.redo("r1", now);
  expect(told(["r1", "r2"], since)).toEqual([step("2")]);
  expect(told(["r2"], since)).toEqual([]);
});

test("a new run clears redo", async () => {
  const { opened, history } = open({ "a.txt": "1" });
  await run(opened, "r1", change("a.txt", file("1"), file("2")));
  await history.undo(null, now);
  await Bun.sleep(2);
  await run(opened, "r2", change("b.txt", null, file("b")));
  await expect(history.redo(null, now)).rejects.toMatchObject({
    message: "nothing to redo: a run changed files after the last one that was taken back",
  });
});

test("what changed since is shown, and nothing is touched", async () => {
  const { place, opened, history } = open({ "a.txt": "1", "b.txt": "1" });
  await run(opened, "r1", change("a.txt", file("1"), file("2")), change("b.txt", file("1"), file("2")));
  writeFileSync(join(place.work, "b.txt"), "theirs");
  const before = treeOf(place.work);
  const { clashes, run: record } = await history.undo(null, now);
  expect(clashes).toMatchObject([{ path: "b.txt", expected: file("2"), actual: file("theirs") }]);
  expect(record.status).toBe("applied");
  expect(treeOf(place.work)).toEqual(before);
});

test("an undo and a redo are merged with what was changed since on other lines, to the byte", async () => {
  const lines = (first: string, last: string) => `${first}\r\n2\r\n3\r\n${last}`;
  const { place, opened, history } = open({ "a.txt": lines("1", "4") });
  await run(opened, "r1", change("a.txt", file(lines("1", "4")), file(lines("ours", "4"))));
  writeFileSync(join(place.work, "a.txt"), lines("ours", "theirs\r\n"));
  expect((await history.undo(null, now)).clashes).toMatchObject([{ path: "a.txt", merge: { kind: "merged" } }]);
  const both = { dryRun: false, merge: true };
  const undone = await history.undo(null, both);
  expect(undone).toMatchObject({ clashes: [], merged: ["a.txt"], run: { status: "undone" } });
  expect(treeOf(place.work)["a.txt"]).toContain(lines("1", "theirs\r\n"));
  expect(await history.redo(null, now)).toMatchObject({ clashes: [], merged: [] });
  expect(treeOf(place.work)["a.txt"]).toContain(lines("ours", "theirs\r\n"));
});

test("a file that holds the run's work, and somebody's beside it, needs nothing of a redo", async () => {
  const { place, opened, history } = open({ "a.txt": "1\n2\n3\n4\n", "b.txt": "b" });
  const ours = change("a.txt", file("1\n2\n3\n4\n"), file("ours\n2\n3\n4\n"));
  await run(opened, "r1", ours, change("b.txt", file("b"), file("B")));
  await history.undo(null, now);
  writeFileSync(join(place.work, "a.txt"), "ours\n2\n3\ntheirs\n");
  const { changes, clashes, merged } = await history.redo(null, now);
  expect([changes.map(({ path }) => String(path)), clashes, merged]).toEqual([["b.txt"], [], []]);
  expect(treeOf(place.work)["a.txt"]).toContain("ours\n2\n3\ntheirs\n");
});

test("a redo brings back what the undo took out, and not what somebody had taken out before", async () => {
  const { place, opened, history } = open({ "a.txt": "1\n2\n3\n", "b.txt": "b" });
  const ours = change("a.txt", file("1\n2\n3\n"), file("one\n2\n3\n"));
  await run(opened, "r1", ours, change("b.txt", file("b"), file("B")));
  writeFileSync(join(place.work, "a.txt"), "1\n2\n3\n");
  await history.undo(null, now);
  const { changes } = await history.redo(null, now);
  expect(changes.map(({ path }) => String(path))).toEqual(["b.txt"]);
  expect(readFileSync(join(place.work, "a.txt"), "latin1")).toBe("1\n2\n3\n");
  expect(readFileSync(join(place.work, "b.txt"), "latin1")).toBe("B");
  expect((await history.undo(null, now)).changes.map(({ path }) => String(path))).toEqual(["b.txt"]);
});

test.each([
  ["a line of the run", "a.txt", "1\n2\n3\n", "mine\n2\n3\n", "disputed"],
  ["the line beside it", "a.txt", "1\n2\n3\n", "ours\nmine\n3\n", "disputed"],
  ["a file that needs a yes of its own", "AGENTS.md", "1\n2\n3\n", "ours\n2\nmine\n", "unmergeable"],
  ["a closed file", ".env", "1\n2\n3\n", "ours\n2\nmine\n", "unmergeable"],
  ["a binary file", "a.bin", "1\0\n2\n3\n", "ours\0\n2\nmine\n", "unmergeable"],
])("what was changed since in %s is not merged", async (_, path, from, since, kind) => {
  const { place, opened, history } = open({ [path]: from });
  await run(opened, "r1", change(path, file(from), file(from.replace("1", "ours"))));
  writeFileSync(join(place.work, path), since);
  const before = treeOf(place.work);
  const { clashes } = await history.undo(null, { dryRun: false, merge: true });
  expect(clashes).toMatchObject([{ path, merge: { kind } }]);
  expect(treeOf(place.work)).toEqual(before);
});

test("a path that became a link is refused; a hard link of it keeps its content", async () => {
  const { place, opened, history } = open({ "a.txt": "1", "b.txt": "1" });
  await run(opened, "r1", change("a.txt", file("1"), file("2")));
  await run(opened, "r2", change("b.txt", file("1"), file("2")));
  linkSync(join(place.work, "b.txt"), join(place.base, "twin"));
  rmSync(join(place.work, "a.txt"));
  symlinkSync(join(place.base, "twin"), join(place.work, "a.txt"));
  expect((await history.undo("r1", now)).clashes.map(({ path }) => String(path))).toEqual(["a.txt"]);
  expect((await history.undo("r2", now)).clashes).toEqual([]);
  expect(readFileSync(join(place.base, "twin"), "utf8")).toBe("2");
});

test("a folder that somebody else uses meanwhile is left by undo", async () => {
  const { place, opened, history } = open();
  await run(opened, "r1", change("d/a.txt", null, file("a")));
  writeFileSync(join(place.work, "d/other"), "other");
  expect((await history.undo(null, now)).clashes).toEqual([]);
  expect(treeOf(place.work)).toEqual({ d: "folder 755", "d/other": "file 644 other" });
});

test("a run is named by any unique beginning of its id", async () => {
  const { opened, history } = open({ "a.txt": "1", "b.txt": "1" });
  await run(opened, "2026-a", change("a.txt", file("1"), file("2")));
  await run(opened, "2026-b", change("b.txt", file("1"), file("2")));
  await expect(history.undo("2026", now)).rejects.toMatchObject({ code: "usage" });
  await expect(history.undo("x", now)).rejects.toMatchObject({ code: "nothing_to_undo" });
  expect((await history.undo("2026-a", now)).run.id).toBe("2026-a");
  await expect(history.undo("2026-a", now)).rejects.toMatchObject({ code: "nothing_to_undo" });
});

test("a rolled-back run stays and can be brought back", async () => {
  const { place, opened, history } = open({ "a.txt": "1" });
  const tx = opened.begin("r1");
  await tx.apply([change("a.txt", file("1"), file("2"))]);
  await tx.rollback();
  expect((await history.redo(null, now)).run).toMatchObject({ id: "r1", status: "applied" });
  expect(treeOf(place.work)).toEqual({ "a.txt": "file 644 2" });
  await history.undo(null, now);
  expect(treeOf(place.work)).toEqual({ "a.txt": "file 644 1" });
});

test("an undo of what a rollback left to somebody else is about that alone", async () => {
  const { place, opened, history } = open({ "a.txt": "1", "b.txt": "1" });
  const tx = opened.begin("r1", "task of r1");
  await tx.apply(["a.txt", "b.txt"].map((path) => change(path, file("1"), file("2"))));
  writeFileSync(join(place.work, "a.txt"), "2 and mine");
  expect((await tx.rollback()).left).toEqual([change("a.txt", null, null).path]);
  writeFileSync(join(place.work, "a.txt"), "2");
  writeFileSync(join(place.work, "b.txt"), "mine");
  expect(await history.undo("r1", now)).toMatchObject({ clashes: [], changes: [{ path: "a.txt" }] });
  expect(history.list()).toMatchObject([{ status: "undone", missing: [] }]);
  expect(["a.txt", "b.txt"].map((path) => readFileSync(join(place.work, path), "utf8"))).toEqual(["1", "mine"]);
});

test("a run that is still open cannot be undone", async () => {
  const { opened, history } = open({ "a.txt": "1" });
  await opened.begin("r1").apply([change("a.txt", file("1"), file("2"))]);
  expect(history.list()).toMatchObject([{ id: "r1", status: "open" }]);
  await expect(history.undo("r1", now)).rejects.toMatchObject({ code: "nothing_to_undo" });
});

test("a run that changed nothing leaves nothing behind", async () => {
  const { place, opened, history } = open({ "a.txt": "1" });
  await opened.begin("r1").close();
  expect(history.list()).toEqual([]);
  expect(existsSync(place.state)).toBe(false);
});

test("the list is newest first, with what was done and how large it is", async () => {
  const { opened, history } = open({ "a.txt": "1", "c.txt": "c" });
  await run(opened, "r1", change("a.txt", file("1"), null), change("n/b.txt", null, file("1"), "a.txt"));
  await run(opened, "r2", change("c.txt", file("c"), file("C")));
  const list = history.list();
  const told = list.map(({ id, task, status }) => `${id}, ${task}: ${status}`);
  expect(told).toEqual(["r2, task of r2: applied", "r1, task of r1: applied"]);
  expect(list[1]?.changes).toEqual([
    { path: "a.txt", op: "delete", from: null, by: "plan" },
    { path: "n", op: "mkdir", from: null, by: "plan" },
    { path: "n/b.txt", op: "move", from: "a.txt", by: "plan" },
  ]);
  expect(list[0]?.bytes).toBeGreaterThan(100);
});

test("the journal holds what was touched and no more, private and compressed", async () => {
  const { place, opened, history } = open({ "a.txt": "x".repeat(100_000) });
  writeFileSync(join(place.work, "huge"), "");
  truncateSync(join(place.work, "huge"), 10 * 1024 ** 3);
  await run(opened, "r1", change("a.txt", file("x".repeat(100_000)), file("y".repeat(100_000))));
  expect(history.list()[0]?.bytes).toBeLessThan(5000);
  expect(statSync(join(place.state, "journal/r1")).mode & 0o777).toBe(0o700);
  expect(statSync(join(place.state, "journal/r1/images")).mode & 0o777).toBe(0o600);
});

test("old and large runs are forgotten, never the newest", async () => {
  const { place, opened, history } = open();
  for (const id of ["r1", "r2", "r3"]) await run(opened, id, change(`${id}.txt`, null, file(id)));
  utimesSync(join(place.state, "journal/r1"), 0, 0);
  utimesSync(join(place.state, "journal/r3"), 0, 0);
  expect(history.prune()).toBe(1);
  expect(history.list().map(({ id }) => id)).toEqual(["r3", "r2"]);
  utimesSync(join(place.state, "journal/r3"), new Date(), new Date());
  await run(opened, "r4", change("r4.txt", null, file("r4")));
  expect(history.prune({ runs: 2 })).toBe(1);
  expect(history.list().map(({ id }) => id)).toEqual(["r4", "r3"]);
  utimesSync(join(place.state, "journal/r4"), 0, 0);
  expect(history.prune({ bytes: 0 })).toBe(1);
  expect(readdirSync(join(place.state, "journal"))).toEqual(["r4"]);
});

test("what is kept of folders without a run for 90 days goes, but for sessions and runs that never ended", async () => {
  const { place, history } = open();
  const names = ["job-0123456789ab", "young-0123456789ab", "talk-0123456789ab", "cut-0123456789ab", "mine"];
  const kept = (name: string) => join(place.base, name);
  for (const name of names) mkdirSync(join(kept(name), "runs"), { recursive: true });
  mkdirSync(join(kept("talk-0123456789ab"), "sessions"));
  mkdirSync(join(kept("cut-0123456789ab"), "open"));
  writeFileSync(join(kept("cut-0123456789ab"), "open/r1"), "");
  for (const name of names.filter((name) => !name.startsWith("young")))
    for (const part of ["", "runs"]) utimesSync(join(kept(name), part), 0, 0);
  history.prune();
  expect(names.filter((name) => !existsSync(kept(name)))).toEqual(["job-0123456789ab"]);
});

test("a damaged image is reported, and the workspace stays", async () => {
  const { place, opened, history } = open({ "a.txt": "1" });
  await run(opened, "r1", change("a.txt", file("1"), file("2")));
  writeFileSync(join(place.state, "journal/r1/images"), "garbage");
  await expect(history.undo(null, now)).rejects.toMatchObject({ code: "io_failed" });
  expect(treeOf(place.work)).toEqual({ "a.txt": "file 644 2" });
});

test("undo and redo of a record write nothing that the policy denies, and nothing else of it", async () => {
  // F30: no run writes these, so a record that names them is forged or older than the rules.
  for (const path of [".git/hooks/pre-commit", ".pai_history/x.log", "d/.Git/config"]) {
    const { place, opened, history } = open({ [path]: "theirs", "a.txt": "1" });
    await run(opened, "r1", change("a.txt", file("1"), file("2")), change(path, file("theirs"), file("forged")));
    const before = treeOf(place.work);
    for (const options of [now, { dryRun: true }]) {
      const message = expect.stringContaining(`${path} (`);
      await expect(history.undo("r1", options)).rejects.toMatchObject({ code: "path_refused", message });
    }
    expect(treeOf(place.work)).toEqual(before);
    expect(history.list()[0]?.status).toBe("applied");
    const tx = opened.begin("r2");
    await tx.apply([change("b.txt", null, file("b")), change(path, file("forged"), file("again"))]);
    await tx.rollback();
    await expect(history.redo("r2", now)).rejects.toMatchObject({ code: "path_refused" });
    expect(treeOf(place.work)).toEqual(before);
  }
});

test("undo goes back on what the settings allow, and on files that had a yes of their own", async () => {
  const { place, opened } = open({ ".env": "1", ".github/workflows/ci.yml": "1" });
  const rules = { allow: [".env"], deny: [] };
  const history = openHistory(opened.root, opened.state, opened.lock, rules);
  const before = treeOf(place.work);
  const paths = [".env", ".github/workflows/ci.yml"];
  await run(opened, "r1", ...paths.map((path) => change(path, file("1"), file("2"))));
  expect((await history.undo(null, now)).clashes).toEqual([]);
  expect(treeOf(place.work)).toEqual(before);
});
