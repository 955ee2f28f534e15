/** The readable log in the workspace: complete, private, and impossible to forge through data. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace, type Place } from "../harness.ts";
import { done, hello, planned, write } from "../replies.ts";

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

test.concurrent("a killed run is logged by the next start, up to where it was cut off", async () => {
  await using place = openPlace(hello);
  const check = "touch ../spare/ready; sleep 100";
  const run = place.start(["run", "-y", "--no-baseline", "--sandbox", "off", "--check", check, "make hello.txt"]);
  while (!existsSync(join(place.spare, "ready"))) await Bun.sleep(20);
  run.kill("SIGKILL");
  await run.done;
  await place.pai(["history"]);
  const lines = linesOf(place).join("\n");
  expect(lines).toContain("] USER make hello.txt");
  expect(lines).toEndWith("] STATUS cut off");
});

test.concurrent("the model can neither read nor write the log", async () => {
  await using place = openPlace([
    planned([["WRITE", ".pai_history/session.log"]]),
    planned([["READ", ".pai_history/x.log"]]),
    done(""),
  ]);
  expect((await place.pai(["run", "-y", "write the log"])).code).toBe(12);
  await place.pai(["run", "-y", "read the log"]);
  for (const { body } of place.gemini.requests) expect(body).not.toContain("] SESSION");
});

test.concurrent("PAI_STATE_DIR names another folder for the state", async () => {
  await using place = openPlace(hello);
  const env = { PAI_STATE_DIR: join(place.spare, "state") };
  await place.pai(["run", "-y", "make hello.txt"], { env });
  expect(readdirSync(join(place.spare, "state")).some((name) => name.startsWith("project-"))).toBe(true);
  expect(readdirSync(place.home)).toEqual([]);
});
