/** What happens between two messages of a session is told by every later request, whatever the mode, and after a resume. */

import { expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace } from "../harness.ts";
import { called, done, modify, planned, says, talked, writeCall } from "../replies.ts";
import { inTerminal, lastAsked, openScreen, ready } from "../screen.ts";

const size = { columns: 120, rows: 50 } as const;
const edit = [planned([["MODIFY", "a.py"]]), done(modify("a.py", "x = 1\n", "x = 2\n"), "Set.")];

inTerminal("an undo, a command and an edit by hand are told across modes and after a resume", async () => {
  await using place = openPlace([...edit, talked("One."), says("Two."), talked("Three."), says("Four.")]);
  writeFileSync(join(place.root, "a.py"), "x = 1\n");
  using screen = openScreen(place, size);
  screen.enter('"$PAI" --mode single-shot');
  await screen.shows(ready);
  screen.enter("set x to 2");
  await screen.shows(/or say what to change/);
  screen.enter("y");
  await screen.shows(ready, 2);
  screen.enter("/undo");
  await screen.shows(/go on\? y or n/);
  screen.enter("y");
  await screen.shows(/undone run/);
  screen.enter("!echo by hand");
  await screen.shows(/goes with your next message/);
  writeFileSync(join(place.root, "a.py"), "x = 9\n");
  screen.enter("what is there?");
  await screen.shows(/One\./);
  const undone = '- undone by the user: what you did for "set x to 2"';
  const since = `${undone}\n- the user ran $ echo by hand (exit 0)\n  by hand\n- changed since your last turn by somebody else, too: a.py\n`;
  expect(lastAsked(place)).toContain(`Since your last turn:\n${since}`);
  const before = `pai: before the next request:\n${since.replace(/^(?=.)/gm, "  ")}user: what is there?\nyou: One.`;
  screen.enter("/mode tool-loop");
  screen.enter("and now?");
  await screen.shows(/Two\./);
  expect(lastAsked(place)).toContain(before);
  screen.enter("!echo at the end");
  await screen.shows(/goes with your next message/, 2);
  screen.enter("/quit");
  await screen.shows(/go on with: pai resume/);
  writeFileSync(join(place.root, "a.py"), "x = 10\n");
  screen.enter('"$PAI" resume --mode single-shot');
  await screen.shows(/session \S+, 3 turns/);
  screen.enter("where were we?");
  await screen.shows(/Three\./);
  expect(lastAsked(place)).toContain(before);
  const closed =
    "- the user ran $ echo at the end (exit 0)\n  at the end\n- changed since your last turn, not by you: a.py\n";
  expect(lastAsked(place)).toContain(`Since your last turn:\n${closed}`);
  screen.enter("/mode tool-loop");
  screen.enter("and then?");
  await screen.shows(/Four\./);
  const told = lastAsked(place);
  expect(told).toContain(`pai: before the next request:\n${closed.replace(/^(?=.)/gm, "  ")}user: where were we?`);
  expect(told).not.toContain("Since your last turn:");
});

inTerminal("files of turns that the conversation was taken back over are called no other's work", async () => {
  const again = [planned([["MODIFY", "a.py"]]), done(modify("a.py", "x = 2\n", "x = 3\n"), "Set again.")];
  await using place = openPlace([...edit, ...again, talked("One."), talked("Two.")]);
  writeFileSync(join(place.root, "a.py"), "x = 1\n");
  using screen = openScreen(place, size);
  screen.enter('"$PAI" --mode single-shot');
  await screen.shows(ready);
  for (const [at, task] of ["set x to 2", "set x to 3"].entries()) {
    screen.enter(task);
    await screen.shows(/or say what to change/, at + 1);
    screen.enter("y");
    await screen.shows(ready, at + 2);
  }
  screen.enter("/rewind 2 conversation");
  await screen.shows(/went back to before turn 2/);
  screen.enter("what is there?");
  await screen.shows(/One\./);
  const stays = "- the user took the conversation back to here, and what you changed later stays: a.py";
  expect(lastAsked(place)).toContain(`Since your last turn:\n${stays}\n</context>`);
  expect(lastAsked(place)).not.toContain("changed since your last turn");
  writeFileSync(join(place.root, "a.py"), "x = 4\n");
  screen.enter("and now?");
  await screen.shows(/Two\./);
  expect(lastAsked(place)).toContain("Since your last turn:\n- changed since your last turn, not by you: a.py\n");
});

inTerminal("HEAD that the user moved between two messages is told with both commits", async () => {
  await using place = openPlace([talked("One."), talked("Two."), talked("Three.")]);
  const git = (...words: readonly string[]) => {
    const own = ["-c", "user.name=A", "-c", "user.email=a@b.c"];
    return spawnSync("git", [...own, ...words], { cwd: place.root, encoding: "utf8" }).stdout.trim();
  };
  writeFileSync(join(place.root, "a.py"), "x = 1\n");
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "one");
  const old = git("rev-parse", "--short=7", "HEAD");
  using screen = openScreen(place, size);
  screen.enter('"$PAI"');
  await screen.shows(ready);
  screen.enter("what is there?");
  await screen.shows(/One\./);
  git("checkout", "-qb", "side");
  git("commit", "-q", "--allow-empty", "-m", "two");
  screen.enter("and now?");
  await screen.shows(/Two\./);
  const now = git("rev-parse", "--short=7", "HEAD");
  expect(lastAsked(place)).toContain(`Since your last turn:\n- HEAD of git went from ${old} (main) to ${now} (side)\n`);
  screen.enter("once more?");
  await screen.shows(/Three\./);
  expect(lastAsked(place)).not.toContain("HEAD of git went");
});

inTerminal("/compact shortens what the present mode sends, and leaves the talk of the other", async () => {
  await using place = openPlace([
    ...[called(writeCall("a.txt", "one\n")), says("Made it.")],
    ...[talked("It holds one."), talked("As before."), says("Yes."), says("One file was made.")],
  ]);
  using screen = openScreen(place, size);
  screen.enter('"$PAI" --mode tool-loop');
  await screen.shows(ready);
  screen.enter("make a.txt");
  await screen.shows(/apply\?/);
  screen.enter("y");
  await screen.shows(/Made it\./);
  screen.enter("/mode single-shot");
  screen.enter("/compact");
  await screen.shows(/nothing to compact yet/);
  for (const [task, answer] of [
    ["what is in it?", /It holds one\./],
    ["sure?", /As before\./],
  ] as const) {
    screen.enter(task);
    await screen.shows(answer);
  }
  screen.enter("/compact");
  await screen.shows(/the next message begins anew/);
  const { length } = place.gemini.requests;
  screen.enter("/mode tool-loop");
  screen.enter("is it so?");
  await screen.shows(/Yes\./);
  expect(place.gemini.requests.length).toBe(length + 1);
  expect(place.gemini.requests.at(-1)?.body).toContain("Made it.");
  screen.enter("/compact");
  await screen.shows(/the conversation is a summary now/);
  screen.enter("/cost");
  await screen.shows(new RegExp(`^${place.gemini.requests.length} calls, `, "m"));
});

inTerminal(
  "what a command printed goes with the next message of whatever session, and alone it leaves no session",
  async () => {
    await using place = openPlace([talked("One.")]);
    using screen = openScreen(place, size);
    screen.enter('"$PAI"');
    await screen.shows(ready);
    screen.enter("!echo by hand");
    await screen.shows(/goes with your next message/);
    screen.enter("/clear");
    await screen.shows(/cleared:/);
    expect((await place.pai(["resume", "--list"])).stdout).toBe("no session here yet\n");
    screen.enter("what was that?");
    await screen.shows(/One\./);
    expect(lastAsked(place)).toContain("Before this request:\n- the user ran $ echo by hand (exit 0)\n  by hand\n");
  },
);
