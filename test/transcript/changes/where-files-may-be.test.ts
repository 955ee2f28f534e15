/** Work on files that the command line names, and in a home folder. */
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
  expect([place.read("a.txt"), (await place.shell('HOME=$PWD "$PAI" history --force-root')).stdout]).toEqual([
    "one\n",
    expect.stringMatching(/rolled_back[\s\S]*undone/),
  ]);
});
