/** Files closed to actions, around a command without a sandbox: its changes are found, put back, or reported. */
import { expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RelPath } from "../../src/core/path.ts";
import { keepClosed } from "../../src/workspace/command/closed-files.ts";
import { defaultSandbox } from "../../src/workspace/sandbox/settings.ts";
import { openBare } from "./bare.ts";
import { noRules, openFolder } from "./folder.ts";
import { usePlaces } from "./places.ts";
import { at, treeOf } from "./tree.ts";

const place = usePlaces();
const files = {
  ".gitignore": "out/\n*.log\n",
  ".git/HEAD": "ref: refs/heads/main\n",
  ".git/config": "[core]\n",
  ".git/index": "1",
  ".env": "KEY=mine\n",
  "out/a.js": "1",
  "a.txt": "a",
};

async function begin(git = false) {
  const made = place(files);
  const sandbox = { ...defaultSandbox, choice: "off", git } as const;
  const { workspace } = await openBare(made.work, made.state, { env: { PATH: "/usr/bin:/bin" }, sandbox });
  const tx = await workspace.begin({ id: "r1", task: "t" });
  const { signal } = new AbortController();
  const run = (command: string, by: "user" | "plan" = "user") => tx.run(command, { by, timeoutMs: 10_000, signal });
  return { made, tx, run, before: treeOf(made.work) };
}

test("each change is reported with what it means, and goes back with the run", async () => {
  const { made, tx, run, before } = await begin();
  const { changes, closed } = await run(
    "echo x >.env; echo x >>.git/config; mkdir .git/hooks; echo x >.git/hooks/pre-push; rm .git/HEAD; ln -s a .env.local; echo 2 >.git/index",
  );
  expect(changes).toEqual([]);
  expect(
    closed?.changes.map(({ path, isDenied, runsUnasked }) => [String(path), isDenied, runsUnasked]).sort(),
  ).toEqual([
    [".env", true, false],
    [".env.local", true, false],
    [".git/HEAD", true, false],
    [".git/config", true, true],
    [".git/hooks/pre-push", true, true],
  ]);
  const { left, closed: back = [] } = await tx.rollback();
  expect([left, back.length]).toEqual([[], 6]);
  expect(treeOf(made.work)).toEqual({ ...before, ".git/index": "file 644 2\n" });
});

test("some go back at once, with the folder that was made for them, and the others stay", async () => {
  const { made, tx, run, before } = await begin();
  const { closed } = await run("echo x >.env; mkdir .git/hooks; echo x >.git/hooks/pre-push");
  expect(await closed?.putBack(new Set([at(".git/hooks/pre-push")]))).toEqual([]);
  expect(treeOf(made.work)).toEqual({ ...before, ".env": "file 644 x\n" });
  await tx.close();
  expect(treeOf(made.work)).toEqual({ ...before, ".env": "file 644 x\n" });
});

test("what somebody else made of one since is left and named", async () => {
  const { made, tx, run } = await begin();
  await run("echo x >.env");
  writeFileSync(join(made.work, ".env"), "KEY=newer\n");
  expect((await tx.rollback()).left.map(String)).toEqual([".env"]);
  expect(treeOf(made.work)).toMatchObject({ ".env": "file 644 KEY=newer\n" });
});

test("ignored files are compared and counted; what a person runs as themselves is not looked at", async () => {
  const { tx, run } = await begin();
  const { notes, closed, stays } = await run(
    "echo 2 >out/a.js; echo 3 >out/b.js; mkdir -p .venv/bin; echo x >.venv/bin/python",
  );
  expect(closed).toBe(null);
  expect(notes).toEqual([
    ".venv is new and ignored, so it stays",
    "2 ignored files changed, and stay so: out/a.js, out/b.js",
  ]);
  expect(stays?.map(String)).toEqual([".venv", "out/a.js", "out/b.js"]);
  const { signal } = new AbortController();
  const own = await tx.run("echo x >.env", { by: "user", timeoutMs: 10_000, signal, sandbox: "none" });
  expect(own.closed ?? null).toBe(null);
});

test("with the right to write .git its orders are not watched, secrets are", async () => {
  const { run } = await begin(true);
  const { closed } = await run("echo x >.git/config; echo x >.env");
  expect(closed?.changes.map(({ path }) => String(path))).toEqual([".env"]);
});

test("a link under a closed name is put back as a link, and what it leads to is not looked at", async () => {
  const { made, tx, run } = await begin();
  mkdirSync(join(made.base, "elsewhere"));
  writeFileSync(join(made.base, "elsewhere/config"), "theirs\n");
  symlinkSync("../elsewhere", join(made.work, ".ssh"));
  const { closed } = await run("echo x >.ssh/config; rm .ssh; mkdir .ssh; echo y >.ssh/config");
  expect(closed?.changes.map(({ path }) => String(path)).sort()).toEqual([".ssh", ".ssh/config"]);
  await tx.rollback();
  expect(treeOf(made.work)[".ssh"]).toBe("link ../elsewhere");
});

const large = "head -c 1200000 /dev/zero";

test("what is too large or not to be read is judged and goes back like anything else", async () => {
  const { made, tx, run, before } = await begin();
  const { closed } = await run(
    `${large} >>.git/config; ${large} >.env.large; mkdir .git/hooks; echo x >.git/hooks/pre-push; chmod 111 .git/hooks/pre-push; mkfifo .env.pipe; rm .env; mkfifo .env`,
    "plan",
  );
  const paths = closed?.changes.map(({ path }) => String(path)).sort();
  expect(paths).toEqual([".env", ".env.large", ".env.pipe", ".git/config", ".git/hooks/pre-push"]);
  expect(await closed?.putBack(new Set(closed.changes.map(({ path }) => path)))).toEqual([]);
  expect(treeOf(made.work)).toEqual(before);
  expect((await tx.rollback()).left).toEqual([]);
  expect(treeOf(made.work)).toEqual(before);
});

test("a large file that steers and is not ignored is judged, too", async () => {
  const { made, run, before } = await begin();
  const command = `mkdir -p .github/workflows; for f in .envrc .github/workflows/x.yml; do ${large} >$f; done; ${large} >big`;
  const { closed, notes, changes } = await run(command, "plan");
  const told = closed?.changes.map(({ path, isDenied, runsUnasked }) => [String(path), isDenied, runsUnasked]);
  expect(told).toEqual([
    [".envrc", false, false],
    [".github/workflows/x.yml", false, false],
  ]);
  expect(notes).toEqual(["big changed and was not kept: it goes back with a run that fails, and not by undo"]);
  expect(changes.map(({ path }) => String(path))).toEqual([".github", ".github/workflows"]);
  await closed?.putBack(new Set(closed.changes.map(({ path }) => path)));
  expect(Object.keys(treeOf(made.work)).filter((path) => !(path in before))).toEqual([
    ".github",
    ".github/workflows",
    "big",
  ]);
});

test("a file that was known comes back whatever a command puts in its place", async () => {
  const { made, tx, run, before } = await begin();
  for (const path of ["b.txt", "c.txt", "d.txt"]) writeFileSync(join(made.work, path), `${path}\n`);
  const known = treeOf(made.work);
  const { changes, notes } = await run(
    `${large} >>b.txt; rm c.txt; mkfifo c.txt; echo x >>d.txt; ${large} >new`,
    "plan",
  );
  expect(changes.map(({ path }) => String(path)).sort()).toEqual(["b.txt", "d.txt"]);
  expect(notes).toEqual([
    "c.txt changed and was not kept: it goes back with a run that fails, and not by undo",
    "new changed and was not kept: it goes back with a run that fails, and not by undo",
  ]);
  await tx.rollback();
  expect([treeOf(made.work), before === known]).toEqual([known, false]);
});

test("what was large before is reported when it changes, and stays", async () => {
  const { made, run } = await begin();
  writeFileSync(join(made.work, ".env"), Buffer.alloc(1_200_000));
  const { closed, notes } = await run("echo x >.env", "plan");
  expect(closed?.changes.map(({ path }) => String(path))).toEqual([".env"]);
  expect(notes).toEqual([".env changed and was not kept, so it cannot be put back"]);
  expect(await closed?.putBack(new Set([at(".env")]))).toEqual([]);
  expect(treeOf(made.work)[".env"]).toBe("file 644 x\n");
});

test("very many new names do not keep us from what was there before", async () => {
  const { made, tx, run, before } = await begin();
  const { closed } = await run("seq -f .env.%.0f 2100 | xargs touch; echo x >>.git/config; echo x >.env", "plan");
  expect(closed?.changes.length).toBe(2102);
  expect(await closed?.putBack(new Set(closed.changes.map(({ path }) => path)))).toEqual([]);
  expect(treeOf(made.work)).toEqual(before);
  await tx.close();
});

test("nor do very many ignored ones", async () => {
  const { made, run } = await begin();
  const { closed } = await run("seq -f %.0f.log 120100 | xargs touch; echo x >>.git/config", "plan");
  expect(closed?.changes.map(({ path }) => String(path))).toEqual([".git/config"]);
  const again = await run("echo x >>.env; mkdir .git/hooks; echo x >.git/hooks/post-checkout", "plan");
  expect(again.closed?.changes.map(({ path }) => String(path)).sort()).toEqual([".env", ".git/hooks/post-checkout"]);
  rmSync(made.work, { recursive: true });
}, 60_000);

test("a signal is heard between two ignored files, however many there are", async () => {
  using folder = openFolder();
  let taken = 0;
  function* hidden() {
    for (; taken < 1000; taken++) {
      const until = performance.now() + 3;
      while (performance.now() < until);
      yield at(`${taken}.log`);
    }
  }
  const parts = { root: folder.root, rules: noRules, isWalled: true, git: false, keepsSmall: false, own: [] };
  const stop = new AbortController();
  const kept = keepClosed({ ...parts, hidden: hidden(), isOpen: () => false, earlier: null, signal: stop.signal });
  stop.abort(new Error("stopped"));
  expect(kept).rejects.toThrow("stopped");
  await kept.catch(() => {});
  expect(taken).toBeLessThan(100);
});

test("no more ignored files are looked at than are compared", async () => {
  using folder = openFolder();
  folder.file("f");
  const looks: string[] = [];
  const stat = folder.root.stat.bind(folder.root);
  const root = {
    ...folder.root,
    stat(path: RelPath) {
      looks.push(path);
      return stat(at("f"));
    },
  };
  const hidden = Array.from({ length: 21_000 }, (_, n) => at(`${n}.log`));
  const parts = { root, rules: noRules, isWalled: true, git: false, keepsSmall: false, own: [] };
  const kept = await keepClosed({ ...parts, hidden, isOpen: () => false, earlier: null });
  expect([kept.ignored.size, kept.isPart, looks.length]).toEqual([20_000, true, 20_000]);
});
