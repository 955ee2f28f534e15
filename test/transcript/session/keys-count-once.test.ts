/** tool-loop in a real terminal: every key counts once, for the question or message it was typed at. */
import { expect } from "bun:test";
import { openPlace, type Place } from "../harness.ts";
import { called, says, writeCall } from "../replies.ts";
import { inTerminal, lastAsked, openScreen, ready, type Screen } from "../screen.ts";

const question = /Apply these changes\?/;
const writes = (path: string) => called(writeCall(path, `${path}\n`));

async function open(place: Place): Promise<Screen> {
  const screen = openScreen(place, { columns: 120, rows: 50 });
  screen.enter('"$PAI" --mode tool-loop; echo "ended with $?"');
  await screen.shows(ready);
  return screen;
}

inTerminal("a question still says what it takes when the terminal becomes narrower (R10)", async () => {
  await using place = openPlace([writes("a"), says("Made it.")]);
  using screen = await open(place);
  screen.enter("make a");
  await screen.shows(question);
  for (const [columns, shown] of [
    [30, /^apply\? y, n, or say what to\nchange: *$/m],
    [16, /^apply\? y, n, or\nsay what to\nchange: *$/m],
    [120, /^apply\? y, n, or say what to change: *$/m],
  ] as const) {
    screen.resize({ columns, rows: 50 });
    await screen.shows(shown);
    expect(screen.text().match(/apply\?/g)).toHaveLength(1);
  }
  screen.enter("y");
  await screen.shows(/Made it\./);
});

inTerminal("after two answers the next message arrives whole, again and again", async () => {
  const round = (n: number) => [writes(`a${n}`), writes(`b${n}`), says(`Made ${n}.`), says(`Heard ${n}.`)];
  await using place = openPlace([1, 2].flatMap(round));
  using screen = await open(place);
  for (const n of [1, 2]) {
    screen.enter(`make ${n}`);
    await screen.shows(question, 2 * n - 1);
    screen.enter("y");
    await screen.shows(question, 2 * n);
    screen.enter("y");
    await screen.shows(new RegExp(`Made ${n}\\.`));
    await screen.shows(ready, 2 * n);
    screen.enter("hello");
    await screen.shows(new RegExp(`Heard ${n}\\.`));
    expect(lastAsked(place)).toEndWith("\n\nhello");
    await screen.shows(ready, 2 * n + 1);
  }
  expect(Object.keys(place.tree()).length).toBe(4);
});

inTerminal("rewinding after going back to a session takes back only what that session did", async () => {
  await using place = openPlace([writes("a"), says("Made a."), writes("b"), says("Made b.")]);
  using screen = await open(place);
  screen.enter("first");
  await screen.shows(question);
  screen.enter("y");
  await screen.shows(/Made a\./);
  await screen.shows(ready, 2);
  screen.enter("/clear");
  await screen.shows(ready, 3);
  screen.enter("second");
  await screen.shows(question, 2);
  screen.enter("y");
  await screen.shows(/Made b\./);
  await screen.shows(ready, 4);
  const { stdout } = await place.pai(["resume", "--list"]);
  screen.enter(`/resume ${/^(\S+) .*first$/m.exec(stdout)?.[1]}`);
  await screen.shows(ready, 5);
  screen.enter("/rewind 1 code");
  await screen.shows(/Take back 1 run/);
  screen.press("y");
  await screen.shows(/files went back to before turn 1/);
  expect(place.tree()).toEqual({ b: "b\n" });
});

inTerminal("an empty session has nothing to compact or rewind, and nobody is asked", async () => {
  await using place = openPlace();
  using screen = await open(place);
  screen.enter("/compact");
  await screen.shows(/nothing to compact/);
  await screen.shows(ready, 2);
  screen.enter("/rewind");
  await screen.shows(/no turn to go back to/);
  expect(place.gemini.requests).toEqual([]);
});
