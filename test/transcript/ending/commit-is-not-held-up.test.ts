/** --commit in a repository whose own files would hold git up, or make it run a program. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { openPlace, type Place } from "../harness.ts";
import { done, modify, planned } from "../replies.ts";

const args = ["run", "-y", "--check", "grep -q . a.txt"];

async function openRepository(): Promise<Place> {
  const place = openPlace([planned(["MODIFY a.txt"]), done(modify("a.txt", "one\n", "two\n"))], {
    "a.txt": "one\n",
  });
  await place.shell(
    "git init -q; git config --global user.name Ada; git config --global user.email ada@example.com; git add .; git commit -qm first",
  );
  return place;
}

test.concurrent("pipes and devices among git's files are named, and git is not started", async () => {
  const made = { config: "mkfifo", HEAD: "mkfifo", commondir: "ln -s /dev/zero", "info/attributes": "mkfifo" };
  for (const [name, make] of Object.entries(made)) {
    await using place = await openRepository();
    await place.shell(`mkdir -p .git/info; rm -f .git/${name}; ${make} .git/${name}`);
    const { code, stderr } = await place.pai([...args, "--commit", "say two"]);
    expect([name, code]).toEqual([name, 1]);
    expect(stderr).toContain(`.git/${name} is not a regular file`);
    expect(place.read("a.txt")).toBe("two\n");
  }
});

test.concurrent("a git that waits for ever ends with a signal, and the run is taken back", async () => {
  await using place = await openRepository();
  // git reads what an included file says, wherever it is.
  await place.shell("mkfifo ../spare/pipe; git config include.path ../../spare/pipe");
  const run = place.start([...args, "--commit", "say two"]);
  const findGit = async () =>
    (await place.shell(`ps -o pid=,args= --ppid ${run.pid} | awk '/rev-parse/ { print $1 }'`)).stdout.trim();
  let git = "";
  while (git === "") git = await findGit();
  run.kill("SIGINT");
  expect((await run.done).code).toBe(130);
  expect(place.read("a.txt")).toBe("one\n");
  expect(existsSync(`/proc/${git}`)).toBe(false);
});

test.concurrent("hooks that the repository's settings name are not run unseen", async () => {
  await using place = await openRepository();
  await place.shell("git config hook.evil.command 'touch pwned'; git config hook.evil.event post-commit");
  const { code, stderr } = await place.pai([...args, "--commit", "say two"]);
  expect([code, place.read("pwned")]).toEqual([1, null]);
  expect(stderr).toContain("the repository's own setting hook.evil.command would run a program");
});
