/** The built binary without a sandbox: commands' changes of closed files are found, reported and put back. */
import { expect, test } from "bun:test";
import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { configure, openPlace } from "../harness.ts";
import { done, hello, planned } from "../replies.ts";

const files = {
  ".git/HEAD": "ref: refs/heads/main\n",
  ".git/config": "[core]\n",
  ".git/hooks/pre-commit": "#!/bin/sh\n",
  ".git/modules/sub/HEAD": "ref: refs/heads/main\n",
  ".git/modules/sub/config": "[core]\n",
  ".gitignore": "build/\n.envrc\n",
  ".env": "KEY=mine\n",
  "build/out.js": "1\n",
  "a.txt": "a\n",
};
/** Settings, not flags, so that an old binary can be tried as well. */
const bare = { sandbox: "off" };
const ran = (command: string) => [planned([`RUN ${command}`]), done(`RUN::${command}\n`), done(""), done("")];

// F6
test.concurrent("a command of the plan that changes orders of git, or secrets, is refused as a whole", async () => {
  for (const command of [
    "echo evil >.git/config; echo A >a.txt",
    "echo evil >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout",
    "rm .git/HEAD",
    "echo evil >.git/modules/sub/config",
    "echo KEY=theirs >.env; echo A >a.txt",
    "mkdir -p .ssh; echo evil >.ssh/config",
    "echo evil >.envrc",
  ]) {
    await using place = openPlace(ran(command), files);
    chmodSync(join(place.root, ".git/hooks/pre-commit"), 0o755);
    configure(place, bare);
    const { stdout } = await place.pai(["run", "-y", "--json", "--allow-run", "build it"]);
    expect([command, place.tree()]).toEqual([command, files]);
    expect(readdirSync(place.root)).not.toContain(".ssh");
    expect(statSync(join(place.root, ".git/hooks/pre-commit")).mode & 0o777).toBe(0o755);
    expect([command, JSON.parse(stdout).changes]).toEqual([command, []]);
    expect(place.gemini.requests.at(-1)?.body).toMatch(/may not be changed|may run code later/);
  }
});

test.concurrent("a repository that a command of the plan makes goes again; --allow-write .git lets commands write it", async () => {
  await using place = openPlace(ran("git init -q && echo A >a.txt"), { "a.txt": "a\n" });
  configure(place, bare);
  await place.pai(["run", "-y", "--allow-run", "build it"]);
  expect([place.tree(), readdirSync(place.root).includes(".git")]).toEqual([{ "a.txt": "a\n" }, false]);
  await using other = openPlace(ran("echo evil >.git/config"), files);
  configure(other, bare);
  await other.pai(["run", "-y", "--allow-run", "--allow-write", ".git", "build it"]);
  expect(other.tree()).toEqual({ ...files, ".git/config": "evil\n" });
});

test.concurrent("behind the sandbox too, what a check makes anew of hidden names that run code does not stay", async () => {
  const check =
    "mkdir -p sub/.git .vscode .claude && echo x | tee sub/.git/config .vscode/tasks.json .claude/x > out.txt";
  await using place = openPlace(hello, { ".gitignore": ".claude/\n" });
  const ran = await place.pai(["run", "-y", "--no-baseline", "--check", check, "say hello"]);
  expect(ran.code).toBe(0);
  expect(Object.keys(place.tree())).toEqual([".gitignore", "hello.txt", "out.txt"]);
  expect(ran.stderr).toMatch(/which was taken back: .*\.claude\/x/);
});
