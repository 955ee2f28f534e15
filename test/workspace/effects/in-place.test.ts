/** What a command changed is found, kept with the run, and taken back with it. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openBare, quick, usualEnv } from "../bare.ts";
import { change, file, makePlace, type Place, treeOf } from "../tree.ts";

const open = (made: Place, stateDir: string | null = made.state) =>
  openBare(made.work, stateDir, { force: false, env: { ...usualEnv, GEMINI_API_KEY: "k" } });

test("changes of a command belong to the run: listed, rolled back, undone", async () => {
  const made = makePlace({ "a.txt": "a", "b.txt": "b" });
  const before = treeOf(made.work);
  const { workspace, history } = await open(made);
  const tx = await workspace.begin({ id: "r1", task: "t" });
  await tx.apply([change("a.txt", file("a"), file("A"))]);
  const result = await tx.run("echo B >b.txt; mkdir d; echo x >>a.txt; ln -s a.txt d/l; env", quick);
  expect(result.output).not.toContain("GEMINI");
  expect([...tx.commandPaths].map(String).sort()).toEqual(["b.txt", "d", "d/l"]);
  expect(tx.changes.length).toBe(5);
  await tx.close();
  const after = treeOf(made.work);
  const kept = history.list()[0]?.changes.map(({ path, by }) => `${path} ${by}`);
  expect(kept?.sort()).toEqual(["a.txt command", "b.txt command", "d command", "d/l command"]);
  await history.undo(null, { dryRun: false });
  expect(treeOf(made.work)).toEqual(before);
  await history.redo(null, { dryRun: false });
  expect(treeOf(made.work)).toEqual(after);
  const again = await workspace.begin({ id: "r2", task: "t" });
  await again.run("rm -r d b.txt", quick);
  await again.rollback();
  expect(treeOf(made.work)).toEqual(after);
});

test("ignore rules that change during a command neither make a user's file look new nor hide one", async () => {
  const ours = { ".gitignore": "*.db\nlocal/\n", "a.txt": "a", "d/b": "b" };
  const files = { ...ours, "big.db": "mine", "local/work.txt": "mine" };
  for (const command of [
    "rm .gitignore; touch new.txt",
    "echo '*' >.gitignore; echo A >a.txt; rm d/b",
    "echo '*' >d/.gitignore; echo B >d/b",
    "echo '!*' >.gitignore; echo c >local/c.txt",
  ]) {
    const made = makePlace(files);
    const before = treeOf(made.work);
    const { workspace, history } = await open(made);
    const run = async (id: string) => {
      const tx = await workspace.begin({ id, task: "t" });
      await tx.run(command, quick);
      return tx;
    };
    await (await run("r1")).rollback();
    const isOurs = ([path]: readonly [string, unknown]) => !path.includes("local/c.txt");
    const kept = () => Object.fromEntries(Object.entries(treeOf(made.work)).filter(isOurs));
    expect([command, kept()]).toEqual([command, before]);
    await (await run("r2")).close();
    await history.undo(null, { dryRun: false });
    expect([command, kept()]).toEqual([command, before]);
  }
});

test("what another run did while a command ran is that run's: not listed, not taken back, not undone", async () => {
  const made = makePlace({ "a.txt": "a", "b.txt": "b" });
  const [first, second] = [await open(made), await open(made)];
  const tx = await first.workspace.begin({ id: "r1", task: "first" });
  const running = tx.run("echo A >a.txt; touch sign; until test -e go; do sleep 0.01; done; rm go", quick);
  for (let n = 0; n < 500 && !existsSync(join(made.work, "sign")); n++) await Bun.sleep(5);
  const other = await second.workspace.begin({ id: "r2", task: "second" });
  await other.apply([change("b.txt", file("b"), file("B")), change("new/c.txt", null, file("c"))]);
  await other.close();
  writeFileSync(join(made.work, "go"), "");
  const { effects } = await running;
  expect(effects.changes.map(({ path }) => String(path)).sort()).toEqual(["a.txt", "sign"]);
  await tx.rollback();
  expect(treeOf(made.work)).toEqual({
    "a.txt": "file 644 a",
    "b.txt": "file 644 B",
    new: "folder 755",
    "new/c.txt": "file 644 c",
  });
});

test("a command that was killed with pai: what changed is reported, stays, and can be undone", async () => {
  const made = makePlace({ "a.txt": "a", "b.txt": "b", "c.txt": "c" });
  const before = treeOf(made.work);
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../commander.ts"), made.base], {
    stdout: "pipe",
    stderr: "inherit",
  });
  await child.stdout.getReader().read();
  for (let n = 0; n < 500 && !existsSync(join(made.work, "sign")); n++) await Bun.sleep(5);
  child.kill("SIGKILL");
  await child.exited;
  const { history, recovered } = await open(made);
  expect(recovered).toEqual([
    expect.stringMatching(/ began, and left: c\.txt; pai undo r1 takes these back too; new since .* and left: sign$/),
  ]);
  expect(treeOf(made.work)).toMatchObject({ "a.txt": "file 644 a", "b.txt": "file 644 b" });
  expect((await open(made)).recovered).toEqual([]);
  expect(history.list()).toMatchObject([{ id: "r1", status: "applied" }]);
  await history.undo("r1", { dryRun: false });
  expect(treeOf(made.work)).toEqual({ ...before, sign: "file 644 " });
});

test("what a command made is taken back whatever it is called", async () => {
  const made = makePlace({ "a.txt": "a" });
  const before = treeOf(made.work);
  const { workspace, history } = await open(made);
  const tx = await workspace.begin({ id: "r1", task: "t" });
  const deep = Array.from({ length: 70 }, () => "d").join("/");
  await tx.run(`touch "$(printf 'n\\nl')" 'a\\b' 'C:x' ' .x ' '~'; mkdir -p 'C:/y' http:/z ${deep}`, quick);
  await tx.close();
  expect(Object.keys(treeOf(made.work))).toContain("n\nl");
  await history.undo(null, { dryRun: false });
  expect(treeOf(made.work)).toEqual(before);
});

test("a command that changed nothing leaves nothing in the journal", async () => {
  const made = makePlace({ "a.txt": "a" });
  const { workspace, history } = await open(made);
  const tx = await workspace.begin({ id: "r1", task: "t" });
  await tx.run("cat a.txt", quick);
  await tx.run("true", quick);
  await tx.close();
  expect(history.list()).toEqual([]);
  expect(readdirSync(join(made.state, readdirSync(made.state)[0] ?? "", "open"))).toEqual([]);
});

test("without a state folder a run can still be taken back, but not later", async () => {
  const made = makePlace({ "a.txt": "a" });
  const { workspace, history, warnings } = await open(made, null);
  expect(workspace.undoable).toBe(false);
  expect(warnings).toEqual([]);
  const tx = await workspace.begin({ id: "r1", task: "t" });
  await tx.apply([change("a.txt", file("a"), file("A"))]);
  await tx.run("echo x >new", quick);
  await tx.rollback();
  expect(treeOf(made.work)).toEqual({ "a.txt": "file 644 a" });
  expect(history.list()).toEqual([]);
});

test("a state folder that cannot be written is reported, and undo is off", async () => {
  const made = makePlace({ file: "" });
  const { workspace, warnings } = await open(made, join(made.work, "file/state"));
  expect(workspace.undoable).toBe(false);
  expect(warnings).toEqual([expect.stringContaining("undo is off")]);
});

test("opening touches neither the workspace nor the state folder", async () => {
  const made = makePlace({ "a.txt": "a" });
  const { recovered } = await open(made);
  expect(recovered).toEqual([]);
  expect(treeOf(made.base)).toEqual({ work: "folder 755", "work/a.txt": "file 644 a" });
});

test("denied paths and a git repository by shape are never written, whatever proposes them", async () => {
  const made = makePlace({ "g/HEAD": "", "g/refs/x": "" });
  const { workspace } = await open(made);
  const tx = await workspace.begin({ id: "r1", task: "t" });
  for (const path of [".git/hooks/pre-commit", ".env", "g/objects/x"]) {
    await expect(tx.apply([change(path, null, file("x"))])).rejects.toMatchObject({ code: "path_refused" });
  }
});
