/** A run that is killed while its command works without a sandbox: what is closed to actions is put back at the next start. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openRoot } from "../../src/workspace/confine.ts";
import { type Copies, openCopies, readCopies } from "../../src/workspace/journal/closed-copies.ts";
import type { State } from "../../src/workspace/journal/journal.ts";
import { recover } from "../../src/workspace/journal/recover.ts";
import { defaultSandbox } from "../../src/workspace/sandbox/settings.ts";
import { openBare } from "./bare.ts";
import { noRules } from "./folder.ts";
import { usePlaces } from "./places.ts";
import { at, deadProcess, file, openPlace, treeOf } from "./tree.ts";

const place = usePlaces();
const files = {
  ".git/HEAD": "ref: refs/heads/main\n",
  ".git/config": "[core]\n",
  ".git/hooks/pre-commit": "#!/bin/sh\n",
  ".env": "KEY=mine\n",
  "a.txt": "a",
};

/** A process that dies while a command of it runs; what it leaves, and how the next one starts. */
function begin(over: Partial<Copies> = {}) {
  const made = place(files);
  const paths = [".git", ".git/HEAD", ".git/config", ".git/hooks", ".git/hooks/pre-commit", ".env"];
  const kept = paths.map((path) => {
    const stat = lstatSync(join(made.work, path));
    const text = files[path as keyof typeof files];
    const blob =
      text === undefined ? ({ kind: "folder", mode: 0o755 } as const) : { ...file(text), mode: stat.mode & 0o777 };
    return [at(path), { blob, uid: stat.uid, gid: stat.gid }] as const;
  });
  const { state, root } = openPlace(made, undefined, deadProcess());
  root.close();
  const copies = openCopies(state, "r1");
  copies.save({ files: new Map(kept), isPart: false, git: false, ...over });
  const start = () => recoverIn(made.work, state);
  return { made, state, copies, start, before: treeOf(made.work) };
}

async function recoverIn(work: string, state: State): Promise<readonly string[]> {
  const root = openRoot(work, { force: true, home: null });
  try {
    return await recover(root, state, async (take) => take(), noRules);
  } finally {
    root.close();
  }
}

const closedIn = ({ folder }: State) => (existsSync(join(folder, "closed")) ? readdirSync(join(folder, "closed")) : []);

test("what it changed, made and removed is put back and named, and the copies go", async () => {
  const { made, state, start, before } = begin();
  writeFileSync(join(made.work, ".git/config"), "evil");
  writeFileSync(join(made.work, ".git/hooks/post-checkout"), "evil", { mode: 0o755 });
  rmSync(join(made.work, ".git/HEAD"));
  writeFileSync(join(made.work, ".env"), "KEY=theirs\n");
  mkdirSync(join(made.work, ".ssh"));
  writeFileSync(join(made.work, ".ssh/config"), "evil");
  const [message = ""] = await start();
  expect(treeOf(made.work)).toEqual(before);
  expect(message).toMatch(/^run r1 was cut off while a command ran without a sandbox: what it changed was put back \(/);
  for (const name of [".git/config", "post-checkout", ".git/HEAD", ".env", ".ssh/config"])
    expect(message).toContain(name);
  expect(closedIn(state)).toEqual([]);
  expect(await start()).toEqual([]);
});

test("what was changed long after the process was last seen is somebody's own: left, and named", async () => {
  const { made, state, start } = begin();
  const path = join(state.folder, "closed/r1");
  const past = new Date(Date.now() - 60_000);
  utimesSync(path, past, past);
  writeFileSync(join(made.work, ".env"), "KEY=newer\n");
  writeFileSync(join(made.work, ".env.local"), "x\n");
  expect(await start()).toEqual([
    "run r1 was cut off while a command ran without a sandbox: changed since, and left: .env, .env.local",
  ]);
  expect(treeOf(made.work)).toMatchObject({ ".env": "file 644 KEY=newer\n", ".env.local": "file 644 x\n" });
});

test("what was there before the first command is never removed, though the rules have come to close it", async () => {
  const { made, start, before } = begin({ isPart: true });
  writeFileSync(join(made.work, ".env.old"), "x\n");
  expect(await start()).toEqual([]);
  expect(treeOf(made.work)).toEqual({ ...before, ".env.old": "file 644 x\n" });
});

test("copies are private, and believed only with the seal of this pai", async () => {
  const { made, state, start } = begin();
  const path = join(state.folder, "closed/r1");
  expect(lstatSync(path).mode & 0o777).toBe(0o600);
  expect(readCopies(state, "r1")?.files.get(at(".env"))?.blob).toMatchObject({ kind: "file" });
  expect(readCopies(state, "r2")).toBeNull();
  writeFileSync(join(made.work, ".env"), "KEY=theirs\n");
  chmodSync(path, 0o600);
  writeFileSync(path, `x${await Bun.file(path).text()}`);
  await start();
  expect(treeOf(made.work)[".env"]).toBe("file 644 KEY=theirs\n");
  expect(closedIn(state)).toEqual([]);
});

test("a run that goes on is left alone; one that ends removes its copies", async () => {
  const made = place(files);
  const sandbox = { ...defaultSandbox, choice: "off" } as const;
  const { workspace } = await openBare(made.work, made.state, { env: { PATH: "/usr/bin:/bin" }, sandbox });
  const run = await workspace.begin({ id: "r1", task: "t" });
  const { signal } = new AbortController();
  await run.run("echo x > .env", { by: "user", timeoutMs: 10_000, signal });
  const found = () =>
    readdirSync(made.state, { recursive: true, encoding: "utf8" }).filter((name) => /closed\/r1$/.test(name));
  expect(found().length).toBe(1);
  expect((await openBare(made.work, made.state)).recovered).toEqual([]);
  expect(treeOf(made.work)[".env"]).toBe("file 644 x\n");
  await run.rollback();
  expect([treeOf(made.work)[".env"], found()]).toEqual(["file 644 KEY=mine\n", []]);
});
