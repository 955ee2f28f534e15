/** Work on files that the command line names, in a home folder, and on files that steer: -y alone changes none that runs without being asked. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { done, modify, planned, talked, write } from "../replies.ts";

const make = [planned(["WRITE a.txt"])];

// F2
test.concurrent("-o replaces no file that a link of the project leads to", async () => {
  await using place = openPlace(make);
  writeFileSync(join(place.home, ".bashrc"), "mine\n");
  symlinkSync(join(place.home, ".bashrc"), join(place.root, "plan.json"));
  symlinkSync(place.home, join(place.root, "out"));
  for (const output of ["plan.json", "./plan.json", join(place.root, "plan.json"), "out/.bashrc"]) {
    const result = await place.pai(["plan", "-o", output, "make a.txt"]);
    expect([output, result.code, place.gemini.requests.length]).toEqual([output, 12, 0]);
  }
  expect(readFileSync(join(place.home, ".bashrc"), "utf8")).toBe("mine\n");
});

test.concurrent("-o writes no denied file, also by a link from outside that leads into the project", async () => {
  await using place = openPlace(make);
  mkdirSync(join(place.root, ".git/hooks"), { recursive: true });
  writeFileSync(join(place.root, ".git/hooks/pre-commit"), "#!/bin/sh\n");
  symlinkSync(join(place.root, ".git/hooks/pre-commit"), join(place.spare, "plan.json"));
  for (const output of [".git/hooks/pre-commit", ".env", join(place.spare, "plan.json")]) {
    expect([output, (await place.pai(["plan", "-o", output, "make a.txt"])).code]).toEqual([output, 12]);
  }
});

test.concurrent("-o writes a file of the project, and one elsewhere through the user's own link", async () => {
  await using place = openPlace([...make, ...make]);
  writeFileSync(join(place.spare, "real.json"), "old\n");
  symlinkSync("real.json", join(place.spare, "mine.json"));
  expect((await place.pai(["plan", "-o", "plan.json", "make a.txt"])).code).toBe(0);
  const elsewhere = await place.pai(["plan", "-o", join(place.spare, "mine.json"), "make a.txt"]);
  expect([elsewhere.code, Object.keys(place.tree())]).toEqual([0, ["plan.json"]]);
  expect(JSON.parse(readFileSync(join(place.spare, "real.json"), "utf8")).kind).toBe("pai-plan");
});

test.concurrent("a plan with finished edits can be read by its user only", async () => {
  await using place = openPlace([...make, done(write("a.txt", "x\n"))]);
  expect((await place.pai(["plan", "--full", "-o", "plan.json", "make a.txt"])).code).toBe(0);
  expect(statSync(join(place.root, "plan.json")).mode & 0o777).toBe(0o600);
});

// F27
test.concurrent("--file and --stdin send nothing that a link of the project leads to, and no denied file", async () => {
  await using place = openPlace([talked("Hello.")], { ".env": "A=1\n", "task.md": "hello" });
  mkdirSync(join(place.home, ".ssh"));
  writeFileSync(join(place.home, ".ssh/id_rsa"), "private\n");
  symlinkSync(join(place.home, ".ssh/id_rsa"), join(place.root, "TASK.md"));
  expect((await place.pai(["run", "--file", "TASK.md"])).code).toBe(12);
  expect((await place.pai(["run", "--file", ".env"])).code).toBe(12);
  expect((await place.shell('"$PAI" run --stdin "what is this?" < TASK.md')).code).toBe(12);
  expect((await place.shell('"$PAI" run - < TASK.md')).code).toBe(12);
  expect(place.gemini.requests.length).toBe(0);
  expect((await place.pai(["run", "--file", "task.md"])).code).toBe(0);
});

test.concurrent("what pai itself writes into its state while a check runs is not taken for the check's work", async () => {
  const answers = [planned(["MODIFY a.txt"]), done(modify("a.txt", "one\n", "two\n"))];
  await using place = openPlace([...answers, ...answers], { "a.txt": "one\n" });
  const run = (check: string) =>
    place.shell(`HOME=$PWD "$PAI" run -y --json --force-root --check '${check}' "change it"`);
  const kept = await run("grep -q two a.txt");
  expect([readOutcome(kept).code, place.read("a.txt")]).toEqual([0, "two\n"]);
  expect(kept.stdout).not.toContain("closed to pai");
  expect(kept.stdout).not.toContain(".local/state");
  expect((await place.shell('HOME=$PWD "$PAI" undo -y --force-root')).code).toBe(0);
  const failed = await run("false");
  expect(failed.stdout).not.toContain(".local/state");
  expect(place.read("a.txt")).toBe("one\n");
  expect((await place.shell('HOME=$PWD "$PAI" history --force-root')).stdout).toMatch(/rolled_back[\s\S]*undone/);
});

test.concurrent("what one command of a plan builds in an ignored place is its own to the next", async () => {
  const [build, use] = ["echo echo built > out.sh", "sh out.sh > said.txt"];
  await using place = openPlace([planned([`RUN ${build}`, `RUN ${use}`]), done("")], { ".gitignore": "out.sh\n" });
  const ran = await place.pai(["run", "-y", "--allow-run", "build it"]);
  expect([ran.code, place.read("said.txt")]).toEqual([0, "built\n"]);
});

// F20
test.concurrent("a check sees neither the user's database nor the password of the proxy, unless a flag gives them", async () => {
  const env = { DATABASE_URL: "postgres://me:hunter2hunter2@db/x", HTTP_PROXY: "http://me:hunter2hunter2@proxy:1" };
  const check = 'env >> env.txt; test -n "$DATABASE_URL" || { echo KeyError: DATABASE_URL; false; }';
  const answers = [...make, done(write("a.txt", "a\n"))];
  await using place = openPlace(answers);
  const result = await place.pai(["run", "-y", "--keep", "--check", check, "x"], { env });
  expect(place.read("env.txt")).not.toContain("hunter2");
  expect(result.stderr).toContain("to give it to them: --env DATABASE_URL");
  await using other = openPlace(answers);
  const given = await other.pai(["run", "-y", "--env", "DATABASE_URL", "--check", "env >> env.txt", "x"], { env });
  expect([given.code, other.read("env.txt")?.includes(env.DATABASE_URL)]).toEqual([0, true]);
});

/** By what is done in the project first: a file whose own name tells nothing, and what it is. */
const otherNames: readonly (readonly [setup: string, path: string, why: RegExp])[] = [
  ["ln -s docs/guide.md AGENTS.md", "docs/guide.md", /a link makes it AGENTS\.md, and AGENTS\.md may run code/],
  ["mkdir conf; ln -s conf .cargo", "conf/config.toml", /a link makes it \.cargo\/config\.toml/],
  ["ln -s dev.txt .env", "dev.txt", /a link makes it \.env, and \.env may hold keys/],
];

test.concurrent("a file is asked about by what a link makes of it", async () => {
  for (const [setup, path, why] of otherNames) {
    await using place = openPlace([planned([`WRITE ${path}`])], { "a.txt": "a\n" });
    const folder = path.split("/").slice(0, -1).join("/");
    await place.shell(`${folder === "" ? "" : `mkdir -p ${folder};`} touch ${path}; ${setup}`);
    const before = place.tree();
    const { code, stderr } = await place.pai(["run", "-y", "change it"]);
    expect([path, code]).toEqual([path, 12]);
    expect(stderr).toMatch(why);
    expect(place.tree()).toEqual(before);
  }
});

test.concurrent("a command cannot link a folder of many names to what it writes next", async () => {
  const link = "mkdir conf; ln -s conf .cargo";
  await using place = openPlace([planned([`RUN ${link}`]), done(`RUN::${link}\n`), done(""), done("")]);
  await place.pai(["run", "-y", "--allow-run", "build it"]);
  expect(place.tree()).toEqual({});
  expect((await place.shell("test -L .cargo")).code).toBe(1);
});

test.concurrent("what --allow cannot mean ends with 2 before any call, and is said", async () => {
  await using place = openPlace([], { "a.txt": "a\n", ".ssh/config": "x\n" });
  const cases = [
    [".git/config", "belongs to version control"],
    [".pai_history/log", "belongs to pai itself"],
    [".ssh", "name each file in it by its whole path"],
    ["docs/**", "matches nothing here"],
    ["../x", "is no path of the project"],
    ["/etc/cron.d/x", "is not in"],
  ] as const;
  for (const [path, why] of cases) {
    const { code, stderr } = await place.pai(["run", "-y", "--allow", path, "x"]);
    expect([path, code, place.gemini.requests.length]).toEqual([path, 2, 0]);
    expect(stderr).toContain(why);
  }
});
