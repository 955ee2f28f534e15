/** tool-loop in a real terminal: every key counts once, for the question or message it was typed at. */
import { expect, setDefaultTimeout } from "bun:test";
import { openPlace, type Place, patience } from "../harness.ts";
import { called, says, writeCall } from "../replies.ts";
import { inTerminal, openScreen, ready, type Screen } from "../screen.ts";

setDefaultTimeout(patience);

const question = /Apply these changes\?/;
const writes = (path: string) => called(writeCall(path, `${path}\n`));

async function open(place: Place): Promise<Screen> {
  const screen = openScreen(place, { columns: 120, rows: 50 });
  screen.enter('"$PAI" --mode tool-loop; echo "ended with $?"');
  await screen.shows(ready);
  return screen;
}

/** The last thing the user said in the newest request. */
function lastAsked({ gemini }: Place): string {
  const { contents } = JSON.parse(gemini.requests.at(-1)?.body ?? "{}");
  return contents.at(-1).parts[0].text;
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
  await using place = openPlace([1, 2, 3].flatMap(round));
  using screen = await open(place);
  for (const n of [1, 2, 3]) {
    screen.enter(`make ${n}`);
    await screen.shows(question, 2 * n - 1);
    screen.enter("y");
    await screen.shows(question, 2 * n);
    screen.enter("y");
    await screen.shows(new RegExp(`Made ${n}\\.`));
    await screen.shows(ready, 2 * n);
    screen.enter("hello");
    await screen.shows(new RegExp(`Heard ${n}\\.`));
    expect(lastAsked(place)).toBe("hello");
    await screen.shows(ready, 2 * n + 1);
  }
  expect(Object.keys(place.tree()).length).toBe(6);
});

inTerminal("the rest of an answer does not answer the next question", async () => {
  await using place = openPlace([writes("a"), writes("b"), says("As you like.")]);
  using screen = await open(place);
  screen.enter("make both");
  await screen.shows(question);
  screen.enter("no, yy");
  await screen.shows(question, 2);
  await Bun.sleep(300);
  expect([place.gemini.requests.length, place.tree()]).toEqual([2, {}]);
  screen.enter("n");
  await screen.shows(/As you like\./);
  expect(place.tree()).toEqual({});
});

inTerminal("Escape at a question is a no and needs no Enter, arrows are no part of the answer", async () => {
  await using place = openPlace([writes("a"), writes("b"), says("Made one.")]);
  using screen = await open(place);
  screen.enter("make it");
  await screen.shows(question);
  screen.press("Up", "Left");
  await Bun.sleep(300);
  expect([place.gemini.requests.length, place.tree()]).toEqual([1, {}]);
  screen.press("y", "Escape");
  await screen.shows(/not applied: refused by user/);
  await screen.shows(question, 2);
  expect(place.tree()).toEqual({});
  screen.enter("y");
  await screen.shows(/Made one\./);
  expect(place.tree()).toEqual({ b: "b\n" });
  await screen.shows(ready, 2);
  screen.press("half a message", "Escape");
  await Bun.sleep(300);
  expect(screen.text()).toMatch(/^pai> half a message\n*$/m);
});

inTerminal(
  "keys while the model works cancel nothing: arrows are no text, text waits for the next message",
  async () => {
    await using place = openPlace([{ ...says("Took a while."), delayMs: 1200 }, says("Heard.")]);
    using screen = await open(place);
    screen.enter("take your time");
    await place.gemini.arrived(1);
    screen.press("Left", "M-x", "my ", "Right");
    await screen.shows(/Took a while\./);
    await screen.shows(ready, 2);
    screen.enter("next");
    await screen.shows(/Heard\./);
    expect(lastAsked(place)).toBe("my next");
  },
);

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
  const { stdout } = await place.pai(["sessions"]);
  screen.enter(`/resume ${/^(\S+) .*first$/m.exec(stdout)?.[1]}`);
  await screen.shows(ready, 5);
  screen.enter("/rewind 1 code");
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
