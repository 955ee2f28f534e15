/** The built binary without a sandbox: commands' changes of closed files are found, reported and put back. */
import { expect, test } from "bun:test";
import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { configure, openPlace } from "../harness.ts";
import { done, hello, planned, write } from "../replies.ts";

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
const ran = (command: string) => [planned([["RUN", command]]), done(`RUN::${command}\n`), done(""), done("")];

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

test.concurrent("what a check changed goes back with a run that fails; what stays is counted and said", async () => {
  const check = "echo KEY=theirs >.env; echo 2 >build/out.js; echo 3 >build/new.js; rm -f .git/HEAD; test ! -e b.txt";
  await using place = openPlace(
    [planned([["WRITE", "b.txt"]]), done(write("b.txt", "b\n")), done(""), done("")],
    files,
  );
  configure(place, bare);
  const { code, stderr } = await place.pai(["run", "-y", "--check", check, "make b.txt"]);
  expect([code, place.tree()]).toEqual([9, { ...files, "build/out.js": "2\n", "build/new.js": "3\n" }]);
  expect(stderr).toContain("closed to pai, and that go back if the run fails: .env, .git/HEAD");
  expect(stderr).toContain("build is ignored: no undo takes its change back");
  expect(stderr).toContain("what commands changed in .env, .git/HEAD was put back");
});

// F22
test.concurrent("headless a check leaves nothing that runs without being asked, unless it is allowed by name", async () => {
  const check =
    "mkdir -p .github/workflows; echo on >.github/workflows/ci.yml; echo x >.envrc; echo x >.git/hooks/pre-push; echo t >t.txt";
  const script = [planned([["WRITE", "b.txt"]]), done(write("b.txt", "b\n"))];
  await using place = openPlace(script, files);
  const flags = ["--check", check];
  configure(place, bare);
  const { code, stderr } = await place.pai(["run", "-y", ...flags, "make b.txt"]);
  expect([code, place.tree()]).toEqual([0, { ...files, "b.txt": "b\n", "t.txt": "t\n" }]);
  expect(stderr).toContain("which was taken back: .envrc, .github/workflows/ci.yml, .git/hooks/pre-push");
  expect(stderr).toContain("--allow .envrc --allow .github/workflows/ci.yml allows it");
  await using other = openPlace(script, files);
  configure(other, bare);
  await other.pai(["run", "-y", ...flags, "--allow", ".github", "--allow", ".envrc", "make b.txt"]);
  expect(other.tree()).toMatchObject({ ".github/workflows/ci.yml": "on\n", ".envrc": "x\n" });
  expect(other.read(".git/hooks/pre-push")).toBe(null);
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

test.concurrent("what a check makes anew of denied names goes back with a run that fails, at any level; else it is named", async () => {
  const make =
    "mkdir -p sub .ssh; for f in .env.new sub/.env .npmrc .ssh/config id_rsa; do [ -e $f ] || echo x > $f; done";
  const script = [planned([["WRITE", "b.txt"]]), done(write("b.txt", "b\n")), done(""), done("")];
  const made = [".env.new", ".npmrc", ".ssh/config", "id_rsa", "sub/.env"];
  for (const sandbox of ["auto", "off"]) {
    await using place = openPlace(script, { ".env": "KEY=mine\n" });
    configure(place, { sandbox });
    const check = `test ! -e b.txt || { ${make}; false; }`;
    const failed = await place.pai(["run", "-y", "--check", check, "make b.txt"]);
    expect([sandbox, failed.code, place.tree()]).toEqual([sandbox, 9, { ".env": "KEY=mine\n" }]);
    expect(readdirSync(place.root).filter((name) => name !== ".pai_history")).toEqual([".env"]);
    await using other = openPlace(script, { ".env": "KEY=mine\n" });
    configure(other, { sandbox });
    const fine = await other.pai(["run", "-y", "--check", `test ! -e b.txt || { ${make}; }`, "make b.txt"]);
    expect([fine.code, Object.keys(other.tree()).sort()]).toEqual([0, [".env", "b.txt", ...made].sort()]);
    expect(fine.stderr).toContain("closed to pai, and that go back if the run fails: ");
    expect(fine.stderr).not.toContain("no undo takes");
  }
});
