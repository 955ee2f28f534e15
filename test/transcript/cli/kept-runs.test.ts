/** What is kept of runs: the readable log, runs of others, numbers for scripts, and what is remembered of a project. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs, otherUser } from "../../needs.ts";
import { openPlace, readTree } from "../harness.ts";
import { done, hello, planned, write } from "../replies.ts";

const record = /^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d\] [A-Z]+ .*$/;

test.concurrent("a run leaves one log of dated records, and a .gitignore that hides the folder", async () => {
  await using place = openPlace([hello[0] ?? {}, done(write("hello.txt", "hello\n"), "Done.", ["Add a test"])]);
  await place.pai(["run", "-y", "--check", "true", "make hello.txt"]);
  const { ".gitignore": hides, ...logs } = readTree(join(place.root, ".pai_history"));
  const [[name = "", text = ""] = [], ...more] = Object.entries(logs);
  expect([name, hides, more]).toEqual([expect.stringMatching(/^session_\d{8}_\d{6}\.log$/), "*\n", []]);
  for (const line of text.trimEnd().split("\n")) expect(line).toMatch(record);
  const begun = ["SESSION", "USER make hello.txt", "PLAN", "STEP", "CALL", "DECISION", "CHECK passed"];
  const ended = ["REPLY Done.", "STATUS verified", "SUGGESTION Add a test", "CHANGE kept: create hello.txt +1 -0"];
  for (const kind of [...begun, ...ended]) expect(text).toContain(`] ${kind}`);
  expect(text).toContain("served by gemini-test");
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

const plan = planned(["WRITE hello.txt"]);
const script = (note: string) => done(write("hello.txt", "hello\n"), `Done.\nREMEMBER: ${note}`);

test.concurrent("a fact of a headless run is pending, is sent after it was accepted, and falls when its file changes", async () => {
  const note = "tests run as Makefile says";
  const answers = [plan, script(note), plan, plan];
  await using place = openPlace(answers, { Makefile: "test:\n\ttrue\n" });
  expect((await place.pai(["config", "set", "memory", "on"])).code).toBe(0);
  const ran = await place.pai(["run", "-y", "write hello.txt for the tests"]);
  expect([ran.code, ran.stdout.includes("REMEMBER")]).toEqual([0, false]);
  expect(ran.stderr).toContain("pai memory accept");
  const requested = (at: number) => JSON.stringify(place.gemini.requests[at]);
  expect(requested(1)).toContain("REMEMBER: one fact");

  const [{ id }] = JSON.parse((await place.pai(["memory", "--json"])).stdout).data.facts;
  await place.pai(["plan", "-y", "explain the tests"]);
  expect(requested(2)).not.toContain(note);

  expect((await place.pai(["memory", "accept", id])).stdout).toContain("accepted");
  await place.pai(["plan", "-y", "explain the tests again"]);
  expect(requested(3)).toContain(note);

  writeFileSync(join(place.root, "Makefile"), "test:\n\tfalse\n");
  await place.pai(["context", "explain the tests"]);
  expect((await place.pai(["memory"])).stdout).toBe("nothing is remembered of this project\n");
});

test.concurrent("what a person adds or changes holds no value that .env names", async () => {
  const value = "Zx9kQ2mR7tLp4VwA8sNd";
  await using place = openPlace([], { ".env": `DB_PASSWORD=${value}\n` });
  const added = await place.pai(["memory", "add", `tests log in with ${value}`]);
  const [{ id }] = JSON.parse((await place.pai(["memory", "--json"])).stdout).data.facts;
  const edited = await place.pai(["memory", "edit", id, `so they log in: ${value}`]);
  const listed = await place.pai(["memory", "--json"]);
  expect([added, edited, listed].map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(added.stdout + edited.stdout + listed.stdout).not.toContain(value);
  expect(listed.stdout).toMatch(/so they log in: <<SECRET_\w+>>/);
});

test.concurrent("without the setting nothing is asked for and nothing kept", async () => {
  await using place = openPlace([plan, script("x")]);
  await place.pai(["run", "-y", "write hello.txt"]);
  expect(JSON.stringify(place.gemini.requests)).not.toContain("REMEMBER: one fact");
  expect((await place.pai(["memory"])).stdout).toBe("nothing is remembered of this project\n");
  expect((await place.pai(["memory", "drop", "x"])).code).toBe(2);
});
