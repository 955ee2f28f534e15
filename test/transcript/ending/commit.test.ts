/** --commit: exactly what a verified run changed, judged by the user's hooks, with nothing of the repository's own run by git. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs, ordinaryUser } from "../../needs.ts";
import { readOutcome } from "../contract.ts";
import { openPlace, type Place } from "../harness.ts";
import { done, modify, planned, write } from "../replies.ts";

const files = { "a.txt": "one\n", "mine.txt": "mine\n", "staged.txt": "old\n" };
const answers = [
  planned(["MODIFY a.txt", "WRITE src/[new] file.txt", "RM gone.txt"]),
  done(
    `${modify("a.txt", "one\n", "two\n")}${write("src/[new] file.txt", "new\n")}RM::gone.txt\n`,
    "Says two.\n\nIt said one.",
  ),
];
const args = ["run", "-y", "--allow-delete", "--check", "grep -q . a.txt"];

function git({ root, home }: Place, ...words: readonly string[]): string {
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, LC_ALL: "C" };
  const { status, stdout, stderr } = spawnSync("git", words, { cwd: root, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${words.join(" ")}: ${stderr}`);
  return stdout;
}

/** A repository with one commit, a file changed by hand and one that is staged. */
function openRepository(replies = answers): Place {
  const place = openPlace(replies, { ...files, "gone.txt": "gone\n" });
  writeFileSync(join(place.home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.com\n");
  git(place, "init", "-q");
  git(place, "add", ".");
  git(place, "commit", "-qm", "first");
  writeFileSync(join(place.root, "mine.txt"), "changed by hand\n");
  writeFileSync(join(place.root, "staged.txt"), "staged\n");
  git(place, "add", "staged.txt");
  return place;
}

function putHook({ root }: Place, name: string, script: string): void {
  const path = join(root, ".git/hooks", name);
  mkdirSync(join(root, ".git/hooks"), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

const commitsOf = (place: Place) => git(place, "log", "--format=%s").trim().split("\n");
/** What of pai's stays in the repository. */
const leftOf = (place: Place) => git(place, "status", "--porcelain").trimEnd().split("\n").sort();

test.concurrent("exactly the run's files are committed; what else is changed or staged stays", async () => {
  await using place = openRepository();
  const outcome = readOutcome(await place.pai([...args, "--commit", "--json", "say two"]));
  expect(outcome).toMatchObject({ code: 0, status: "verified", commit: git(place, "rev-parse", "HEAD").trim() });
  expect(git(place, "show", "--format=", "--name-status", "-z").split("\0").filter(Boolean)).toEqual([
    ...["M", "a.txt", "D", "gone.txt", "A", "src/[new] file.txt"],
  ]);
  expect(git(place, "log", "-1", "--format=%an %s|%b")).toBe(
    `Ada Says two.|It said one.\n\nPai-Run: ${outcome.run}\n\n`,
  );
  expect(leftOf(place)).toEqual([" M mine.txt", "M  staged.txt"]);
  expect(existsSync(join(place.root, ".git/index.lock"))).toBe(false);
  const undone = await place.pai(["undo", "-y"]);
  const [, line = ""] = /the commit \w{10} stays; to take it back, too: (.*)$/m.exec(undone.stdout) ?? [];
  expect([place.read("a.txt"), commitsOf(place)]).toEqual(["one\n", ["Says two.", "first"]]);
  // The line that it prints takes back the commit and nothing else.
  const person = {
    GIT_AUTHOR_NAME: "Ada",
    GIT_AUTHOR_EMAIL: "a@b",
    GIT_COMMITTER_NAME: "Ada",
    GIT_COMMITTER_EMAIL: "a@b",
  };
  spawnSync("sh", ["-c", line], { cwd: place.root, env: { ...process.env, ...person } });
  expect(commitsOf(place)[0]).toBe(`Revert ${outcome.commit?.slice(0, 10)}`);
  expect(git(place, "diff", "HEAD~2", "--name-only")).toBe("mine.txt\nstaged.txt\n");
});

test.concurrent("only a verified run is committed", async () => {
  await using place = openRepository([...answers, ...answers]);
  const run = ["run", "-y", "--allow-delete"];
  const before = await place.pai([...run, "--commit", "say two"]);
  expect([before.code, place.gemini.requests.length]).toEqual([2, 0]);
  expect(before.stderr).toContain("add --check CMD");
  const unproved = readOutcome(await place.pai([...run, "--allow-run=pytest*", "--commit", "--json", "say two"]));
  expect(unproved).toMatchObject({ code: 1, error: { code: "commit_failed" } });
  expect([place.read("a.txt"), commitsOf(place)]).toEqual(["two\n", ["first"]]);
  expect((await place.pai(["undo", "-y"])).code).toBe(0);
  expect(place.read("a.txt")).toBe("one\n");
});

const refusals: readonly (readonly [why: string, (place: Place) => void])[] = [
  [
    "a merge is in progress",
    (place) => writeFileSync(join(place.root, ".git/MERGE_HEAD"), git(place, "rev-parse", "HEAD")),
  ],
  ["a rebase is in progress", ({ root }) => mkdirSync(join(root, ".git/rebase-merge"))],
  ["git does not know who you are", ({ home }) => writeFileSync(join(home, ".gitconfig"), "")],
  [
    "the pre-commit hook refused it\nno tabs please",
    (place) => putHook(place, "pre-commit", "echo no tabs please; exit 1"),
  ],
  ["the commit-msg hook refused it", (place) => putHook(place, "commit-msg", 'grep -q JIRA "$1"')],
  ["git add: Unable to create", ({ root }) => writeFileSync(join(root, ".git/index.lock"), "")],
  [
    "the repository's own setting filter.evil.clean would run a program",
    (place) => {
      git(place, "config", "filter.evil.clean", "touch ../spare/ran; cat");
      writeFileSync(join(place.root, ".git/info/attributes"), "*.txt filter=evil\n");
    },
  ],
];

for (const [why, prepare] of refusals) {
  test.concurrent(`no commit and exit 1, the changes stay: ${why.split("\n")[0]}`, async () => {
    await using place = openRepository();
    prepare(place);
    const ran = await place.pai([...args, "--commit", "say two"]);
    expect([ran.code, place.read("a.txt"), commitsOf(place)]).toEqual([1, "two\n", ["first"]]);
    for (const line of `not committed: ${why}`.split("\n")) expect(ran.stderr).toContain(line);
    expect(ran.stderr).toContain("the changes stay");
    expect(existsSync(join(place.spare, "ran"))).toBe(false);
    const isLocked = why.includes("Unable");
    if (!isLocked) expect(git(place, "ls-files", "--", "src")).toBe("");
  });
}

test.concurrent("hooks see just this commit, cannot write the repository, and pass what git then makes", async () => {
  await using place = openRepository();
  putHook(
    place,
    "pre-commit",
    'git diff --cached --name-only >&2; test -n "$(git diff --cached --name-only -- mine.txt staged.txt)" && exit 1; echo x > .git/made-by-hook; echo x > made-by-hook; exit 0',
  );
  putHook(place, "post-commit", "touch .git/post-commit-ran");
  putHook(place, "reference-transaction", "touch .git/transaction-ran");
  const ran = await place.pai([...args, "--commit", "say two"]);
  expect([ran.code, commitsOf(place)[0]]).toEqual([0, "Says two."]);
  expect(["post-commit-ran", "transaction-ran"].filter((name) => existsSync(join(place.root, ".git", name)))).toEqual(
    [],
  );
  const { level } = JSON.parse((await place.pai(["doctor", "--json", "--offline"])).stdout).sandbox ?? {};
  if (level === "full") expect(existsSync(join(place.root, ".git/made-by-hook"))).toBe(false);
});

needs(ordinaryUser).test.concurrent("a repository that cannot be written keeps the work, too", async () => {
  await using place = openRepository();
  chmodSync(join(place.root, ".git"), 0o555);
  const ran = await place.pai([...args, "--commit", "say two"]);
  chmodSync(join(place.root, ".git"), 0o755);
  expect([ran.code, place.read("a.txt"), commitsOf(place)]).toEqual([1, "two\n", ["first"]]);
});

test.concurrent("settings of a repository that name programs start none of them", async () => {
  await using place = openRepository();
  const run = "touch ../spare/ran";
  for (const key of [
    "core.fsmonitor",
    "core.editor",
    "core.pager",
    "diff.external",
    "trailer.x.command",
    "core.sshCommand",
  ])
    git(place, "config", key, run);
  git(place, "config", "filter.other.clean", run);
  expect((await place.pai([...args, "--commit", "say two"])).code).toBe(0);
  expect([commitsOf(place)[0], existsSync(join(place.spare, "ran"))]).toEqual(["Says two.", false]);
});

test.concurrent("in a folder of the repository, on a branch without any commit", async () => {
  await using place = openPlace(answers, { "sub/a.txt": "one\n", "sub/gone.txt": "gone\n", ".gitignore": "" });
  writeFileSync(join(place.home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.com\n");
  git(place, "init", "-q");
  const ran = await place.pai([...args, "--commit", "say two"], { cwd: join(place.root, "sub") });
  expect([ran.stderr, ran.code]).toEqual([expect.stringContaining("committed 2 files"), 0]);
  expect(git(place, "ls-tree", "-r", "--name-only", "HEAD")).toBe("sub/a.txt\nsub/src/[new] file.txt\n");
});

test.concurrent("what git ignores is not committed, and nothing to commit is not a failure", async () => {
  await using place = openRepository([planned(["WRITE out.log"]), done(write("out.log", "x\n"))]);
  writeFileSync(join(place.root, ".git/info/exclude"), "*.log\n");
  const ran = await place.pai(["run", "-y", "--check", "true", "--commit", "write it"]);
  expect([ran.code, commitsOf(place)]).toEqual([0, ["first"]]);
  expect(ran.stderr).toContain("git finds no changes of this run to commit");
});

test.concurrent("what git left out of a commit is reported", async () => {
  const steps = ["WRITE out.log", "WRITE b.txt"] as const;
  await using place = openRepository([planned(steps), done(write("out.log", "x\n") + write("b.txt", "b\n"))]);
  writeFileSync(join(place.root, ".git/info/exclude"), "*.log\n");
  const { stderr } = await place.pai(["run", "-y", "--check", "true", "--commit", "write it"]);
  expect(stderr).toMatch(
    /committed 1 file as [0-9a-f]{10}; nothing to commit of 1 more \(ignored by git, or as before\)/,
  );
});

test.concurrent("a file of a repository within the repository is not passed over in silence", async () => {
  await using place = openRepository([planned(["WRITE inner/b.txt"]), done(write("inner/b.txt", "b\n"))]);
  git(place, "init", "-q", "inner");
  const ran = await place.pai(["run", "-y", "--check", "true", "--commit", "write it"]);
  expect([ran.code, place.read("inner/b.txt"), commitsOf(place)]).toEqual([1, "b\n", ["first"]]);
  expect(ran.stderr).toContain("not committed: inner/b.txt belongs to another repository; the changes stay");
});

test.concurrent("outside of a repository it is refused before any call", async () => {
  await using place = openPlace(answers, files);
  const ran = await place.pai([...args, "--commit", "say two"]);
  expect([ran.code, place.gemini.requests.length]).toEqual([2, 0]);
  expect(ran.stderr).toContain("--commit needs");
});

test.concurrent("a repository that lacks objects does not fetch them by a program of its own, with any git", async () => {
  await using place = openRepository();
  const bin = join(place.spare, "bin");
  mkdirSync(bin);
  // As a git that does not know the variable against it.
  writeFileSync(join(bin, "git"), `#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec "${Bun.which("git")}" "$@"\n`);
  chmodSync(join(bin, "git"), 0o755);
  const tree = git(place, "rev-parse", "HEAD^{tree}").trim();
  await place.shell(`rm -f .git/objects/${tree.slice(0, 2)}/${tree.slice(2)}`);
  for (const [name, value] of [
    ["extensions.partialClone", "origin"],
    ["core.repositoryformatversion", "1"],
    ["remote.origin.url", `ext::touch ${join(place.spare, "ran")}`],
    ["remote.origin.promisor", "true"],
    ["protocol.ext.allow", "always"],
  ] as const)
    git(place, "config", name, value);
  await place.pai([...args, "--commit", "say two"], { env: { PATH: `${bin}:/usr/local/bin:/usr/bin:/bin` } });
  expect(existsSync(join(place.spare, "ran"))).toBe(false);
});

test.concurrent("a folder whose .git names the repository of another one gets no commit; a worktree and a submodule do", async () => {
  await using place = openRepository([]);
  const other = join(place.spare, "other");
  mkdirSync(other);
  writeFileSync(join(other, ".git"), `gitdir: ${join(place.root, ".git")}\n`);
  const asked = ["run", "-y", "--check", "true", "--commit", "say two"];
  const refused = await place.pai(asked, { cwd: other });
  expect([refused.code, place.gemini.requests.length]).toEqual([2, 0]);
  expect(refused.stderr).toContain("is the repository of another folder than");
  git(place, "worktree", "add", "-q", join(place.spare, "tree"));
  git(place, "-c", "protocol.file.allow=always", "submodule", "-q", "add", place.root, "sub");
  for (const cwd of [join(place.spare, "tree"), join(place.root, "sub")]) {
    const { stderr } = await place.pai(asked, { cwd });
    expect(stderr).not.toContain("another folder");
  }
});

const sayTwo = [planned(["MODIFY a.txt"]), done(modify("a.txt", "one\n", "two\n"))];

test.concurrent("pipes and devices among git's files are named, and git is not started", async () => {
  const made = { config: "mkfifo", HEAD: "mkfifo", commondir: "ln -s /dev/zero", "info/attributes": "mkfifo" };
  for (const [name, make] of Object.entries(made)) {
    await using place = openRepository(sayTwo);
    await place.shell(`mkdir -p .git/info; rm -f .git/${name}; ${make} .git/${name}`);
    const { code, stderr } = await place.pai([...args, "--commit", "say two"]);
    expect([name, code]).toEqual([name, 1]);
    expect(stderr).toContain(`.git/${name} is not a regular file`);
    expect(place.read("a.txt")).toBe("two\n");
  }
});

test.concurrent("a git that waits for ever ends with a signal, and the run is taken back", async () => {
  await using place = openRepository(sayTwo);
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
  await using place = openRepository(sayTwo);
  await place.shell("git config hook.evil.command 'touch pwned'; git config hook.evil.event post-commit");
  const { code, stderr } = await place.pai([...args, "--commit", "say two"]);
  expect([code, place.read("pwned")]).toEqual([1, null]);
  expect(stderr).toContain("the repository's own setting hook.evil.command would run a program");
});
