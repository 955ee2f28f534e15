/** What is kept of runs: the readable log, runs of others, and numbers for scripts. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace, type Place } from "../harness.ts";
import { done, hello, write } from "../replies.ts";

const record = /^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d\] [A-Z]+ .*$/;

function logsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^session_\d{8}_\d{6}(_\d+)?\.log$/.test(name))
    .map((name) => readFileSync(join(folder, name), "utf8"));
}

const linesOf = ({ root }: Place): string[] =>
  logsIn(join(root, ".pai_history")).flatMap((text) => text.trimEnd().split("\n"));

test.concurrent("a run leaves one log of dated records, and a .gitignore that hides the folder", async () => {
  await using place = openPlace([hello[0] ?? {}, done(write("hello.txt", "hello\n"), "Done.", ["Add a test"])]);
  await place.pai(["run", "-y", "--check", "true", "make hello.txt"]);
  const lines = linesOf(place);
  for (const line of lines) expect(line).toMatch(record);
  const text = lines.join("\n");
  for (const kind of ["SESSION", "USER make hello.txt", "PLAN", "STEP", "CALL", "DECISION", "CHECK passed"]) {
    expect(text).toContain(`] ${kind}`);
  }
  for (const end of [
    "REPLY Done.",
    "STATUS verified",
    "SUGGESTION Add a test",
    "CHANGE kept: create hello.txt +1 -0",
  ]) {
    expect(text).toContain(`] ${end}`);
  }
  expect(text).toContain("served by gemini-test");
  expect(readFileSync(join(place.root, ".pai_history/.gitignore"), "utf8")).toBe("*\n");
});

test.concurrent("--csv is plain lines of fields that every tool of a pipe reads", async () => {
  await using place = openPlace(hello);
  expect((await place.pai(["run", "-y", "make hello.txt"])).code).toBe(0);
  const { stdout, code } = await place.pai(["stats", "--csv", "--by", "model"]);
  const [head = "", row = "", ...rest] = stdout.split("\n");
  expect([code, rest]).toEqual([0, [""]]);
  expect(stdout).not.toMatch(/[\r\\]/);
  expect(head.split(",").slice(0, 2)).toEqual(["model", "runs"]);
  expect([head.split(",").at(-1), row.split(",").length]).toEqual(["undone", head.split(",").length]);
  expect(row).toMatch(/^gemini:[\w.-]+,1,1,/);
});
