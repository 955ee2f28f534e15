/** RM, MV and MKDIR of whole folders, from the action to the disk and back. */
import { expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { mkdir, mv, rm } from "../../src/actions/change.ts";
import type { Change } from "../../src/core/change.ts";
import type { Stage } from "../../src/core/ports.ts";
import { openBare } from "./bare.ts";
import { makePlace, treeOf } from "./tree.ts";

const never = new AbortController().signal;

async function open(files: Record<string, string>) {
  const made = makePlace(files);
  const opened = await openBare(made.work, made.state, { env: { PATH: "/usr/bin:/bin" } });
  const stage: Stage = { ...opened.workspace, room: 1e6, asksBy: "script", shown: () => null };
  let number = 0;
  const apply = async (changes: readonly Change[]) => {
    const run = await opened.workspace.begin({ id: `r${++number}`, task: "t" });
    await run.apply(changes);
    await run.close();
  };
  const journalBytes = () => opened.history.list().reduce((sum, run) => sum + run.bytes, 0);
  return { ...made, ...opened, stage, apply, journalBytes, undo: () => opened.history.undo(null, { dryRun: false }) };
}

async function changesOf(proposed: Promise<{ readonly kind: string; readonly changes?: readonly Change[] }>) {
  const { changes } = await proposed;
  if (changes === undefined) throw new Error("no changes were proposed");
  return changes;
}

/** A folder with everything a folder can hold. */
function furnish(work: string): void {
  mkdirSync(join(work, "box/empty"), { recursive: true });
  mkdirSync(join(work, "box/closed"), { mode: 0o710 });
  chmodSync(join(work, "box/run.sh"), 0o751);
  symlinkSync("/etc/hostname", join(work, "box/out"));
  symlinkSync("../outside", join(work, "box/folder-link"));
  symlinkSync("nowhere", join(work, "box/dangling"));
}

test.each(["removed", "moved"])(
  "a folder is %s with all it holds, links as links, and undo brings back all",
  async (how) => {
    const { work, stage, apply, undo } = await open({ "box/run.sh": "x", "box/a/b/c.txt": "c", "outside/o.txt": "o" });
    furnish(work);
    const before = treeOf(work);
    const moved = Object.entries(before)
      .filter(([path]) => how === "moved" && path.startsWith("box/"))
      .map(([path, what]) => [path.replace("box", "new/place"), what]);
    const mine = { path: "box", from: "box", to: "new/place" };
    await apply(await changesOf(how === "moved" ? mv.propose(mine, stage, never) : rm.propose(mine, stage, never)));
    const { outside, "outside/o.txt": file, ...after } = treeOf(work);
    expect([outside, file]).toEqual([before["outside"], before["outside/o.txt"]]);
    expect(after).toEqual({
      ...Object.fromEntries(moved),
      ...(how === "moved" && { new: "folder 755", "new/place": before["box"] }),
    });
    expect(existsSync("/etc/hostname")).toBe(true);
    await undo();
    expect(treeOf(work)).toEqual(before);
  },
);

for (const hidden of [".env", ".git/config", "deep/.ssh/id_rsa"]) {
  test(`a folder that hides ${hidden} is neither removed nor moved`, async () => {
    const { work, stage } = await open({ "box/a.txt": "a", [`box/${hidden}`]: "secret" });
    const before = treeOf(work);
    await expect(rm.propose({ path: "box" }, stage, never)).rejects.toMatchObject({ code: "path_refused" });
    await expect(mv.propose({ from: "box", to: "b" }, stage, never)).rejects.toMatchObject({ code: "path_refused" });
    expect(treeOf(work)).toEqual(before);
  });
}

test("a file too large to read may be removed and moved, and comes back", async () => {
  const { work, workspace, stage, apply, undo, journalBytes } = await open({});
  const large = Buffer.alloc(9 * 1024 * 1024, "line\n");
  writeFileSync(join(work, "large"), large);
  await expect(workspace.read(workspace.path("large", "read"))).rejects.toMatchObject({ code: "file_unusable" });
  await apply(await changesOf(mv.propose({ from: "large", to: "there" }, stage, never)));
  await apply(await changesOf(rm.propose({ path: "there" }, stage, never)));
  expect(treeOf(work)).toEqual({});
  await undo();
  await undo();
  expect(readFileSync(join(work, "large")).equals(large)).toBe(true);
  expect(journalBytes()).toBeLessThan(1024 * 1024);
});

test("more than can be kept is refused before anything is touched", async () => {
  const { work, stage } = await open({ "box/a.txt": "a" });
  writeFileSync(join(work, "box/huge"), "");
  truncateSync(join(work, "box/huge"), 2 ** 40);
  await expect(rm.propose({ path: "box" }, stage, never)).rejects.toMatchObject({ code: "file_unusable" });
  expect(existsSync(join(work, "box/a.txt"))).toBe(true);
});

test("folders that MKDIR made are gone after undo, those in use stay", async () => {
  const { work, stage, apply, undo } = await open({});
  await apply(await changesOf(mkdir.propose({ path: "a/b/c" }, stage, never)));
  expect(Object.keys(treeOf(work))).toEqual(["a", "a/b", "a/b/c"]);
  await undo();
  expect(treeOf(work)).toEqual({});
  await apply(await changesOf(mkdir.propose({ path: "a/b/c" }, stage, never)));
  writeFileSync(join(work, "a/mine"), "m");
  await undo();
  expect(Object.keys(treeOf(work))).toEqual(["a", "a/mine"]);
});

test("a terabyte that nobody touches cost neither time nor journal, even beside a command", async () => {
  const { work, workspace, journalBytes } = await open({ "a.txt": "a" });
  const path = join(work, "sparse");
  writeFileSync(path, "");
  truncateSync(path, 2 ** 40);
  utimesSync(path, 1, 1);
  const run = await workspace.begin({ id: "r", task: "t" });
  await run.run("echo more >> a.txt", { by: "user", timeoutMs: 60_000, signal: never });
  await run.close();
  expect(run.changes.map((change) => `${change.path}`)).toEqual(["a.txt"]);
  expect(journalBytes()).toBeLessThan(4096);
  expect(statSync(path).mtimeMs).toBe(1000);
});
