/** Something is piped in at a terminal: the person is asked at the terminal all the same. */
import { expect } from "bun:test";
import { readCommand } from "../contract.ts";
import { openPlace, type Place } from "../harness.ts";
import { done, planned, write } from "../replies.ts";
import { inTerminal, openScreen, type Screen } from "../screen.ts";

const asked = /or say what to change/;

function open(place: Place, line: string): Screen {
  const screen = openScreen(place, { columns: 110, rows: 50 });
  screen.enter(`${line}; echo "ended with $?"`);
  return screen;
}

const plan = planned(["WRITE hello.txt"]);
const hello = write("hello.txt", "hello\n");

for (const [name, line, told] of [
  ["context from a pipe", 'echo "a piped line" | "$PAI" "make hello.txt"', "<context>\\na piped line"],
  ["the task from a pipe", 'echo "make hello.txt" | "$PAI" -', "Request: make hello.txt"],
] as const) {
  inTerminal(`the plan is asked about at the terminal: ${name}`, async () => {
    await using place = openPlace([plan, done(hello, "Made it.")]);
    using screen = open(place, line);
    await screen.shows(asked);
    expect(place.tree()).toEqual({});
    await screen.say("y", /Made it\./);
    await screen.shows(/ended with 0/);
    expect(place.gemini.requests[0]?.body).toContain(told);
    expect(place.tree()).toEqual({ "hello.txt": "hello\n" });
    // The shell has its terminal back as it was.
    await screen.shell("echo typed");
  });
}

inTerminal("a terminal that is closed at a question is no answer to it", async () => {
  await using place = openPlace([plan]);
  {
    using screen = open(place, '"$PAI" run "make hello.txt"');
    await screen.shows(asked);
  }
  const { data } = readCommand(await place.pai(["history", "--json"]));
  expect(data).toMatchObject({ runs: [{ outcome: { status: "interrupted", code: 129 } }] });
});

inTerminal("nobody is asked where nothing is piped in, with --no-input (R15), or without a terminal", async () => {
  await using place = openPlace([plan, plan, plan, plan]);
  using screen = open(place, '"$PAI" "make hello.txt" < /dev/null');
  await screen.shows(/ended with 10/);
  await screen.say('echo "a piped line" | "$PAI" --no-input "make hello.txt"; echo "then $?"', /then 10/);
  await screen.say('"$PAI" run --no-input "make hello.txt"; echo "also $?"', /also 10/);
  await screen.say('echo "a piped line" | setsid -w "$PAI" "make hello.txt"; echo "last $?"', /last 10/);
  expect(screen.text()).not.toMatch(asked);
  expect(place.tree()).toEqual({});
});
