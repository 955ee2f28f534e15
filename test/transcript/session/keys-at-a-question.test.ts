/** What the answers to a question do: one key where words are no answer, `a` holds for the session, `?` explains; and who is asked where something is piped in. */
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readCommand } from "../contract.ts";
import { openPlace, type Place } from "../harness.ts";
import { called, done, planned, says, write, writeCall } from "../replies.ts";
import { inTerminal, openScreen, openSession, ready, type Screen } from "../screen.ts";

inTerminal("? explains, and at the diff words make it anew", async () => {
  await using place = openPlace([
    planned(["WRITE a.txt"]),
    done(write("a.txt", "one\n"), "Made it."),
    done(write("a.txt", "uno\n"), "Made it anew."),
  ]);
  using screen = await openSession(place, '"$PAI"', { columns: 100, rows: 50 });
  await screen.say("make a.txt", /or say what to change/);
  await screen.say("?", /d +yes, and show the diff before it is applied/);
  expect(place.gemini.requests).toHaveLength(1);
  await screen.say("d", /apply\?/);
  await screen.say("in Italian please", /apply\?/, 2);
  await screen.say("y", /Made it anew\./);
  expect(place.tree()).toEqual({ "a.txt": "uno\n" });
  await screen.say("/export talk.md", /1 turn written to talk\.md/);
  expect(readFileSync(join(place.root, "talk.md"), "utf8")).toMatch(
    /## make a\.txt[\s\S]*Made it anew\.[\s\S]*\*kept: 1 file/,
  );
  await screen.say("/export talk.md", /talk\.md exists/);
});

inTerminal("a holds for exactly this command; words where they are no answer are refused in a sentence", async () => {
  const bash = (command: string) => called(["bash", { command }]);
  await using place = openPlace([bash("echo one"), bash("echo one"), bash("echo two"), says("Ran them.")]);
  using screen = await openSession(place, '"$PAI" --mode tool-loop', { columns: 100, rows: 50 });
  await screen.say("run them", /run\? y, n or a \(always this command\)/);
  await screen.say("no, keep it", /this question takes no other words/);
  await screen.say("a", /run\?/, 3);
  expect(screen.text()).toMatch(/│ echo two/);
  screen.press("y");
  await screen.shows(/Ran them\./);
  await screen.say("/allow", /1\. the command echo one/);
  await screen.say("/allow drop 1", /asked again: echo one/);
});

inTerminal("a plan that only runs commands takes always, too, and /allow holds for it", async () => {
  const test = planned(["RUN echo one"]);
  const ran = (said: string) => done("RUN::echo one\n", said);
  await using place = openPlace([test, ran("Once."), test, ran("Twice."), test, ran("Thrice.")]);
  using screen = await openSession(place, '"$PAI"', { columns: 100, rows: 50 });
  await screen.say("run the first", /run\? y, n, a \(always this command\), or say what to change/);
  await screen.say("always", /Once\./);
  await screen.say("run it again", /Twice\./);
  await screen.say("/allow drop 1", /asked again: echo one/);
  await screen.say("/allow echo *", /commands like echo \*/);
  await screen.say("run it thrice", /Thrice\./);
  expect(screen.text().match(/run\? y/g)).toHaveLength(1);
});

const question = /Apply these changes\?/;
const writes = (path: string) => called(writeCall(path, `${path}\n`));

const open = (place: Place) => openSession(place, '"$PAI" --mode tool-loop', { columns: 120, rows: 50 });

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

inTerminal("/clear forgets what an a allowed", async () => {
  await using place = openPlace([writes("src/a"), says("Written."), writes("src/b"), says("Written.")]);
  using screen = await open(place);
  await screen.say("write a", /always below src/);
  await screen.say("a", /Written\./);
  await screen.shows(ready, 2);
  await screen.say("/clear", /cleared: .*asked again/s);
  await screen.say("write b", /create src\/b\napply\?/);
  expect(place.tree()).toEqual({ "src/a": "src/a\n" });
});

const asked = /or say what to change/;

function openLine(place: Place, line: string): Screen {
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
    using screen = openLine(place, line);
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
  const screen = openLine(place, '"$PAI" run "make hello.txt"');
  await screen.shows(asked);
  screen[Symbol.dispose]();
  const { data } = readCommand(await place.pai(["history", "--json"]));
  expect(data).toMatchObject({ runs: [{ outcome: { status: "interrupted", code: 129 } }] });
});

inTerminal("nobody is asked where nothing is piped in, with --no-input (R15), or without a terminal", async () => {
  await using place = openPlace([plan, plan, plan, plan]);
  using screen = openLine(place, '"$PAI" "make hello.txt" < /dev/null');
  await screen.shows(/ended with 10/);
  await screen.say('echo "a piped line" | "$PAI" --no-input "make hello.txt"; echo "then $?"', /then 10/);
  await screen.say('"$PAI" run --no-input "make hello.txt"; echo "also $?"', /also 10/);
  await screen.say('echo "a piped line" | setsid -w "$PAI" "make hello.txt"; echo "last $?"', /last 10/);
  expect(screen.text()).not.toMatch(asked);
  expect(place.tree()).toEqual({});
});
