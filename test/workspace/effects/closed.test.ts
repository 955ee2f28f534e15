/** Files closed to actions, around a command without a sandbox: its changes are found, put back, or reported. */
import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Effects } from "../../../src/core/change.ts";
import { defaultSandbox } from "../../../src/workspace/sandbox/settings.ts";
import { beginBare, quick } from "../bare.ts";
import { at, makePlace, treeOf } from "../tree.ts";

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
  const made = makePlace(files);
  const { tx } = await beginBare(made.work, made.state, { sandbox: { ...defaultSandbox, choice: "off", git } });
  const run = async (command: string, by: "user" | "plan" = "user") =>
    (await tx.run(command, { ...quick, by })).effects;
  return { made, tx, run, before: treeOf(made.work) };
}

const refusedIn = ({ refused }: Effects) => refused.map(({ path }) => String(path)).sort();
const carriedIn = ({ carried }: Effects) => carried.map(({ path }) => String(path)).sort();
const changedIn = ({ changes }: Effects) => changes.map(({ path }) => String(path)).sort();

test("each change is reported with what it means, and goes back with the run", async () => {
  const { made, tx, run, before } = await begin();
  const { changes, refused } = await run(
    "echo x >.env; echo x >>.git/config; mkdir .git/hooks; echo x >.git/hooks/pre-push; rm .git/HEAD; ln -s a .env.local; echo 2 >.git/index",
  );
  expect(changes).toEqual([]);
  expect(refused.map(({ path, why, runsUnasked }) => [String(path), why, runsUnasked]).sort()).toEqual([
    [".env", null, false],
    [".env.local", null, false],
    [".git/HEAD", null, false],
    [".git/config", null, true],
    [".git/hooks/pre-push", null, true],
  ]);
  const { left, closed: back = [] } = await tx.rollback();
  expect([left, back.length]).toEqual([[], 6]);
  expect(treeOf(made.work)).toEqual({ ...before, ".git/index": "file 644 2\n" });
});

test("some go back at once, with the folder that was made for them, and the others stay", async () => {
  const { made, tx, run, before } = await begin();
  const effects = await run("echo x >.env; mkdir .git/hooks; echo x >.git/hooks/pre-push");
  expect((await tx.drop(effects, new Set([at(".git/hooks/pre-push")]))).left).toEqual([]);
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

test("ignored files are compared; what a person runs as themselves is not looked at", async () => {
  const { tx, run } = await begin();
  const effects = await run("echo 2 >out/a.js; echo 3 >out/b.js; mkdir -p .venv/bin; echo x >.venv/bin/python");
  expect([effects.refused, effects.changes]).toEqual([[], []]);
  expect(carriedIn(effects)).toEqual([".venv", "out"]);
  const own = await tx.run("echo x >.env", { ...quick, by: "user", sandbox: "none" });
  expect(own.effects).toEqual({ changes: [], carried: [], refused: [], notes: [] });
});

test("with the right to write .git its orders are not watched, secrets are", async () => {
  const { run } = await begin(true);
  expect(refusedIn(await run("echo x >.git/config; echo x >.env"))).toEqual([".env"]);
});

test("a link under a closed name is put back as a link, and what it leads to is not looked at", async () => {
  const { made, tx, run } = await begin();
  mkdirSync(join(made.base, "elsewhere"));
  writeFileSync(join(made.base, "elsewhere/config"), "theirs\n");
  symlinkSync("../elsewhere", join(made.work, ".ssh"));
  const effects = await run("echo x >.ssh/config; rm .ssh; mkdir .ssh; echo y >.ssh/config");
  expect(refusedIn(effects)).toEqual([".ssh/config"]);
  await tx.rollback();
  expect(treeOf(made.work)[".ssh"]).toBe("link ../elsewhere");
});

const large = "head -c 1200000 /dev/zero";

test("what is too large or not to be read is judged and goes back like anything else", async () => {
  const { made, tx, run, before } = await begin();
  const effects = await run(
    `${large} >>.git/config; ${large} >.env.large; mkdir .git/hooks; echo x >.git/hooks/pre-push; chmod 111 .git/hooks/pre-push; mkfifo .env.pipe; rm .env; mkfifo .env`,
    "plan",
  );
  expect(refusedIn(effects)).toEqual([".env", ".env.large", ".env.pipe", ".git/config", ".git/hooks/pre-push"]);
  expect((await tx.drop(effects, null)).left).toEqual([]);
  expect(treeOf(made.work)).toEqual(before);
  expect((await tx.rollback()).left).toEqual([]);
  expect(treeOf(made.work)).toEqual(before);
});

test("a large new file is carried, whatever it is called, and goes back with the run", async () => {
  const { made, tx, run, before } = await begin();
  const command = `mkdir -p .github/workflows; for f in .envrc .github/workflows/x.yml; do ${large} >$f; done; ${large} >big`;
  const effects = await run(command, "plan");
  expect(carriedIn(effects)).toEqual([".envrc", ".github/workflows/x.yml", "big"]);
  expect(changedIn(effects)).toEqual([".github", ".github/workflows"]);
  await tx.drop(effects, new Set([at(".envrc"), at(".github/workflows/x.yml")]));
  expect(Object.keys(treeOf(made.work)).filter((path) => !(path in before))).toEqual(["big"]);
  await tx.rollback();
  expect(treeOf(made.work)).toEqual(before);
});

test("a file that was known comes back whatever a command puts in its place", async () => {
  const { made, tx, run, before } = await begin();
  for (const path of ["b.txt", "c.txt", "d.txt"]) writeFileSync(join(made.work, path), `${path}\n`);
  const known = treeOf(made.work);
  const effects = await run(`${large} >>b.txt; rm c.txt; mkfifo c.txt; echo x >>d.txt; ${large} >new`, "plan");
  expect([changedIn(effects).join(), carriedIn(effects).join()]).toEqual(["b.txt,d.txt", "c.txt,new"]);
  await tx.rollback();
  expect([treeOf(made.work), before === known]).toEqual([known, false]);
});

test("what was large before is reported when it changes, and stays", async () => {
  const { made, tx, run } = await begin();
  writeFileSync(join(made.work, ".env"), Buffer.alloc(1_200_000));
  const effects = await run("echo x >.env", "plan");
  expect(refusedIn(effects)).toEqual([".env"]);
  expect(effects.notes).toEqual([".env changed and no copy of it was kept, so it cannot be put back"]);
  expect((await tx.drop(effects, null)).left).toEqual([]);
  expect(treeOf(made.work)[".env"]).toBe("file 644 x\n");
});

test("very many new names do not keep us from what was there before", async () => {
  const { made, tx, run, before } = await begin();
  const effects = await run("seq -f .env.%.0f 2100 | xargs touch; echo x >>.git/config; echo x >.env", "plan");
  expect(effects.refused.length).toBe(2102);
  expect((await tx.drop(effects, null)).left).toEqual([]);
  expect(treeOf(made.work)).toEqual(before);
  await tx.close();
});
