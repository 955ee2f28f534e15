/** A run that is killed while its command works in place: what is closed to actions is put back at the next start. */
import { expect, test } from "bun:test";
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finish } from "../../../src/core/steps.ts";
import { openRoot } from "../../../src/workspace/confine.ts";
import { takeLook } from "../../../src/workspace/effects/look.ts";
import { openWatch } from "../../../src/workspace/effects/watch.ts";
import { openJournal, type State } from "../../../src/workspace/journal/journal.ts";
import { recover } from "../../../src/workspace/journal/recover.ts";
import { beginBare, openBare, quick } from "../bare.ts";
import { noRules } from "../folder.ts";
import { deadProcess, makePlace, openPlace, treeOf } from "../tree.ts";

const files = {
  ".git/HEAD": "ref: refs/heads/main\n",
  ".git/config": "[core]\n",
  ".git/hooks/pre-commit": "#!/bin/sh\n",
  ".env": "KEY=mine\n",
  "a.txt": "a",
};

/** A process that dies while a command of it runs; what it leaves, and how the next one starts. */
function begin({ git = false } = {}) {
  const made = makePlace(files);
  const { state, root } = openPlace(made, undefined, deadProcess());
  const journal = openJournal(state, "r1");
  journal.begin("run", "a task");
  const parts = { root, rules: noRules, isWalled: false, git, keepsIgnored: true, own: new Set<never>(), known: null };
  const look = () => finish(takeLook(parts));
  const watch = openWatch(journal);
  watch.begin(look(), { git, changed: [] });
  watch.end();
  const start = () => recoverIn(made.work, state);
  return { made, state, look, watch, start, before: treeOf(made.work), saved: savedIn(state) };
}

const savedIn = ({ folder }: State) => join(folder, "journal/r1/before");

async function recoverIn(work: string, state: State): Promise<readonly string[]> {
  const root = openRoot(work, { force: true, home: null });
  try {
    return await recover(root, state, async (take) => take(), noRules);
  } finally {
    root.close();
  }
}

test("what it changed, made and removed is put back and named, and nothing of it is kept", async () => {
  const { made, saved, start, before } = begin();
  writeFileSync(join(made.work, ".git/config"), "evil");
  writeFileSync(join(made.work, ".git/hooks/post-checkout"), "evil", { mode: 0o755 });
  rmSync(join(made.work, ".git/HEAD"));
  writeFileSync(join(made.work, ".env"), "KEY=theirs\n");
  mkdirSync(join(made.work, ".ssh"));
  writeFileSync(join(made.work, ".ssh/config"), "evil");
  const [message = ""] = await start();
  expect(treeOf(made.work)).toEqual(before);
  expect(message).toMatch(
    /^run r1 was cut off and was taken back; closed to pai, changed by its commands, and put back: /,
  );
  for (const name of [".git/config", "post-checkout", ".git/HEAD", ".env", ".ssh/config"])
    expect(message).toContain(name);
  expect(existsSync(saved)).toBe(false);
  expect(await start()).toEqual([]);
});

test("what was changed long after the process was last seen is somebody's own: left, and named", async () => {
  const { made, saved, start } = begin();
  const past = new Date(Date.now() - 60_000);
  utimesSync(saved, past, past);
  writeFileSync(join(made.work, ".env"), "KEY=newer\n");
  writeFileSync(join(made.work, ".env.local"), "x\n");
  expect(await start()).toEqual([
    "run r1 was cut off and was taken back; closed to pai, changed since, and left: .env, .env.local",
  ]);
  expect(treeOf(made.work)).toMatchObject({ ".env": "file 644 KEY=newer\n", ".env.local": "file 644 x\n" });
});

test("with the right to write .git its orders are left as they are", async () => {
  const { made, start } = begin({ git: true });
  writeFileSync(join(made.work, ".git/config"), "theirs");
  writeFileSync(join(made.work, ".git/new"), "theirs");
  expect(await start()).toEqual([]);
  expect(treeOf(made.work)[".git/config"]).toBe("file 644 theirs");
});

test("what is kept of them is private, and believed only with the seal of this pai", async () => {
  const { made, saved, state, start } = begin();
  expect(lstatSync(saved).mode & 0o777).toBe(0o600);
  writeFileSync(join(made.work, ".env"), "KEY=theirs\n");
  const record = join(state.folder, "journal/r1/record");
  const lines = readFileSync(record, "utf8").split("\n");
  writeFileSync(record, lines.map((line) => (line.includes('"watch"') ? `x${line}` : line)).join("\n"));
  await start();
  expect(treeOf(made.work)[".env"]).toBe("file 644 KEY=theirs\n");
  expect(existsSync(saved)).toBe(false);
});

test("a run that goes on is left alone; one that ends keeps nothing of what was there before its commands", async () => {
  const made = makePlace(files);
  const { tx, stateFolder } = await beginBare(made.work, made.state);
  await tx.run("echo x > .env", { ...quick, by: "user" });
  const saved = join(stateFolder ?? "", "journal/r1/before");
  expect(existsSync(saved)).toBe(true);
  expect((await openBare(made.work, made.state)).recovered).toEqual([]);
  expect(treeOf(made.work)[".env"]).toBe("file 644 x\n");
  await tx.rollback();
  expect([treeOf(made.work)[".env"], existsSync(saved)]).toEqual(["file 644 KEY=mine\n", false]);
});

test("a second command is compared with the files before the first, and not with what the first did", async () => {
  const { made, look, watch, start } = begin();
  const env = () => look().seen.get(".env" as never)?.blob ?? null;
  const before = env();
  writeFileSync(join(made.work, ".env"), "KEY=first\n");
  watch.begin(look(), { git: false, changed: [{ path: ".env" as never, before, after: env(), from: null }] });
  watch.end();
  writeFileSync(join(made.work, ".env"), "KEY=second\n");
  await start();
  expect(treeOf(made.work)[".env"]).toBe("file 644 KEY=mine\n");
});
