/** What is kept of runs: the readable log, runs of others, and numbers for scripts. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { needs, otherUser } from "../../needs.ts";
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

test.concurrent("under sudo a missing key or run is said to be left behind with its user", async () => {
  await using place = openPlace();
  const said = async (line: readonly string[], user: string) =>
    Object.values(await place.pai(line, { env: { SUDO_USER: user, GEMINI_API_KEY: null } })).join("");
  expect(await said(["run", "make it"], "ann")).toContain("sudo leaves the keys of ann behind: pass on");
  expect(await said(["undo", "-y"], "ann")).toContain("under sudo the runs of ann are not seen");
  expect(await said(["history"], "ann")).toContain("under sudo the runs of ann are not seen");
  expect(await said(["undo", "-y"], "root")).not.toContain("sudo");
});

needs(otherUser).test.concurrent("where another user has run pai, an undo that finds nothing says so", async () => {
  await using place = openPlace(hello);
  expect((await place.pai(["run", "-y", "make hello.txt"])).code).toBe(0);
  const other = 'chmod 755 .. .; HOME=/nonexistent setpriv --reuid=65534 --clear-groups "$PAI" undo -y';
  expect((await place.shell(other)).stderr).toContain("uid 0 has run pai here: runs are kept with their user");
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
