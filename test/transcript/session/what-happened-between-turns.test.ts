/** What happens between two messages of a session is told by every later request, whatever the mode, and after a resume. */

import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace } from "../harness.ts";
import { called, done, modify, planned, says, talked, writeCall } from "../replies.ts";
import { inTerminal, lastAsked, openSession, ready } from "../screen.ts";

const size = { columns: 120, rows: 50 } as const;
const edit = [planned(["MODIFY a.py"]), done(modify("a.py", "x = 1\n", "x = 2\n"), "Set.")];

inTerminal("an undo, a command and an edit by hand are told across modes and after a resume", async () => {
  await using place = openPlace([...edit, talked("One."), says("Two."), talked("Three."), says("Four.")]);
  writeFileSync(join(place.root, "a.py"), "x = 1\n");
  using screen = await openSession(place, '"$PAI" --mode single-shot', size);
  await screen.say("set x to 2", /or say what to change/);
  await screen.say("y", ready, 2);
  await screen.say("/undo", /go on\? y or n/);
  await screen.say("y", /undone run/);
  await screen.say("!echo by hand", /goes with your next message/);
  writeFileSync(join(place.root, "a.py"), "x = 9\n");
  await screen.say("what is there?", /One\./);
  const undone = '- undone by the user: what you did for "set x to 2"';
  const since = `${undone}\n- the user ran $ echo by hand (exit 0)\n  by hand\n- changed, not by you: a.py\n`;
  expect(lastAsked(place)).toContain(`What has happened that you were not told yet:\n${since}`);
  const before = `pai: before the next request:\n${since.replace(/^(?=.)/gm, "  ")}user: what is there?\nyou: One.`;
  screen.enter("/mode tool-loop");
  await screen.say("and now?", /Two\./);
  expect(lastAsked(place)).toContain(before);
  await screen.say("!echo at the end", /goes with your next message/, 2);
  await screen.say("/quit", /go on with: pai resume/);
  writeFileSync(join(place.root, "a.py"), "x = 10\n");
  await screen.say('"$PAI" resume --mode single-shot', /session \S+, 3 turns/);
  await screen.say("where were we?", /Three\./);
  expect(lastAsked(place)).toContain(before);
  const closed = "- the user ran $ echo at the end (exit 0)\n  at the end\n- changed, not by you: a.py\n";
  expect(lastAsked(place)).toContain(`What has happened that you were not told yet:\n${closed}`);
  screen.enter("/mode tool-loop");
  await screen.say("and then?", /Four\./);
  const told = lastAsked(place);
  expect(told).toContain(`pai: before the next request:\n${closed.replace(/^(?=.)/gm, "  ")}user: where were we?`);
  expect(told).not.toContain("What has happened that you were not told yet:");
});

inTerminal("/compact shortens what the present mode sends, and leaves the talk of the other", async () => {
  await using place = openPlace([
    ...[called(writeCall("a.txt", "one\n")), says("Made it.")],
    ...[talked("It holds one."), talked("As before."), says("Yes."), says("One file was made.")],
  ]);
  using screen = await openSession(place, '"$PAI" --mode tool-loop', size);
  await screen.say("make a.txt", /apply\?/);
  await screen.say("y", /Made it\./);
  screen.enter("/mode single-shot");
  await screen.say("/compact", /nothing to compact yet/);
  for (const [task, answer] of [
    ["what is in it?", /It holds one\./],
    ["sure?", /As before\./],
  ] as const) {
    await screen.say(task, answer);
  }
  await screen.say("/compact", /the next message begins anew/);
  const { length } = place.gemini.requests;
  screen.enter("/mode tool-loop");
  await screen.say("is it so?", /Yes\./);
  expect(place.gemini.requests.length).toBe(length + 1);
  expect(place.gemini.requests.at(-1)?.body).toContain("Made it.");
  await screen.say("/compact", /the conversation is a summary now/);
  await screen.say("/cost", new RegExp(`^${place.gemini.requests.length} calls, `, "m"));
});

inTerminal("what a command printed goes with the next message of any session, and alone leaves none", async () => {
  await using place = openPlace([talked("One.")]);
  using screen = await openSession(place, '"$PAI"', size);
  await screen.say("!echo by hand", /goes with your next message/);
  await screen.say("/clear", /cleared:/);
  expect((await place.pai(["resume", "--list"])).stdout).toBe("no session here yet\n");
  await screen.say("what was that?", /One\./);
  expect(lastAsked(place)).toContain(
    "What has happened that you were not told yet:\n- the user ran $ echo by hand (exit 0)\n  by hand\n",
  );
});
