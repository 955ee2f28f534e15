/** tool-loop in a real terminal: every key counts once, for the question or message it was typed at. */
import { expect } from "bun:test";
import { openPlace, type Place } from "../harness.ts";
import { called, says, writeCall } from "../replies.ts";
import { inTerminal, openSession, ready, type Screen } from "../screen.ts";

const question = /Apply these changes\?/;
const writes = (path: string) => called(writeCall(path, `${path}\n`));

async function open(place: Place): Promise<Screen> {
  const screen = await openSession(place, '"$PAI" --mode tool-loop', { columns: 120, rows: 50 });
  return screen;
}

inTerminal("a question still says what it takes when the terminal becomes narrower (R10)", async () => {
  await using place = openPlace([writes("a"), says("Made it.")]);
  using screen = await open(place);
  await screen.say("make a", question);
  for (const [columns, shown] of [
    [30, /^apply\? y, n, or say what to\nchange: *$/m],
    [16, /^apply\? y, n, or\nsay what to\nchange: *$/m],
    [120, /^apply\? y, n, or say what to change: *$/m],
  ] as const) {
    screen.resize({ columns, rows: 50 });
    await screen.shows(shown);
    expect(screen.text().match(/apply\?/g)).toHaveLength(1);
  }
  await screen.say("y", /Made it\./);
});

inTerminal("rewinding after going back to a session takes back only what that session did", async () => {
  await using place = openPlace([writes("a"), says("Made a."), writes("b"), says("Made b.")]);
  using screen = await open(place);
  await screen.say("first", question);
  await screen.say("y", /Made a\./);
  await screen.shows(ready, 2);
  await screen.say("/clear", ready, 3);
  await screen.say("second", question, 2);
  await screen.say("y", /Made b\./);
  await screen.shows(ready, 4);
  const { stdout } = await place.pai(["resume", "--list"]);
  await screen.say(`/resume ${/^(\S+) .*first$/m.exec(stdout)?.[1]}`, ready, 5);
  await screen.say("/rewind 1 code", /Take back 1 run/);
  screen.press("y");
  await screen.shows(/files went back to before turn 1/);
  expect(place.tree()).toEqual({ b: "b\n" });
});

inTerminal("an empty session has nothing to compact or rewind, and nobody is asked", async () => {
  await using place = openPlace();
  using screen = await open(place);
  await screen.say("/compact", /nothing to compact/);
  await screen.shows(ready, 2);
  await screen.say("/rewind", /no turn to go back to/);
  expect(place.gemini.requests).toEqual([]);
});
