/** The interactive session in a real terminal: what is shown, asked and kept. */
import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { comesTrue, ends } from "../../processes.ts";
import { openPlace, type Place, readTree } from "../harness.ts";
import { done, hello, planned, talked, write } from "../replies.ts";
import { expectEnd, inTerminal, leave, openCommand, openSession, ready } from "../screen.ts";

const size = { columns: 100, rows: 40 };
const question = /or say what to change/;

const make = (name: string, next: readonly string[] = []) => [
  planned([`WRITE ${name}`], { reply: `I will make ${name}.` }),
  done(write(name, "text\n"), `Made ${name}.`, next),
];

inTerminal("a task from banner to result: plan, feedback, no, yes, undo hint, exit", async () => {
  const changed = planned(["WRITE other.txt"], { reply: "Then other.txt." });
  await using place = openPlace([
    planned(["WRITE hello.txt"]),
    changed,
    changed,
    done(write("other.txt", "o\n"), "Made it."),
  ]);
  using screen = await openSession(place, '"$PAI" -m gemini-3.5-flash-lite', size);
  expect(screen.text()).toMatch(/pai \d+\.\d+\.\d+ +gemini:gemini-3\.5-flash-lite/);

  await screen.say("make hello.txt", question);
  expect(screen.text()).toMatch(/WRITE\s+hello\.txt/);
  await screen.say("no not that, name it other.txt", /Then other\.txt\./);
  await screen.shows(question, 2);
  await screen.say("n", /declined/);
  await screen.shows(ready, 2);
  expect(place.tree()).toEqual({});

  await screen.say("make other.txt", question, 3);
  await screen.say("y", /undo with: pai undo/);
  await screen.shows(ready, 3);
  const shown = screen.text();
  expect(shown).toMatch(/\+ o\b[\s\S]*Made it\.[\s\S]*2 calls/);
  expect([place.gemini.requests.length, place.tree()]).toEqual([4, { "other.txt": "o\n" }]);
  await leave(place, screen);
});

inTerminal("lanjut goes on with the next steps, twice in a row; then nothing is left and no call is made", async () => {
  await using place = openPlace([
    ...make("one.txt", ["Make two.txt"]),
    ...make("two.txt", ["Make three.txt"]),
    ...make("three.txt"),
  ]);
  using screen = await openSession(place, '"$PAI"', size);
  await screen.say("lanjut", /nothing to continue/);
  await screen.say("make one.txt", question);
  await screen.say("y", /Made one\.txt/);
  await screen.shows(ready, 3);
  for (const [at, name] of ["two.txt", "three.txt"].entries()) {
    await screen.say("lanjut", question, at + 2);
    await screen.say("ya", new RegExp(`Made ${name}`));
    await screen.shows(ready, at + 4);
  }
  expect(place.gemini.requests[2]?.body).toContain("Make two.txt");
  await screen.say("lanjut", /nothing to continue/, 2);
  expect([place.gemini.requests.length, Object.keys(place.tree())]).toEqual([6, ["one.txt", "three.txt", "two.txt"]]);
  await screen.shows(ready, 6);
  screen.press("C-d");
  await expectEnd(place, screen, 0);
});

inTerminal(
  "Ctrl+C in a run keeps the session; twice at the prompt leaves with 130, the terminal as it was",
  async () => {
    await using place = openPlace([{ ...talked("late"), delayMs: 20_000 }, talked("Here I am.")]);
    using screen = await openSession(place, '"$PAI"', size);
    screen.enter("take your time");
    await place.gemini.arrived(1);
    screen.press("C-c");
    await Bun.sleep(50);
    screen.press("C-c");
    await screen.shows(/interrupted, nothing changed/);
    await screen.shows(ready, 2);
    await Bun.sleep(2100);
    await screen.say("are you there?", /Here I am\./);
    await screen.shows(ready, 3);
    screen.press("C-c");
    await screen.shows(/Ctrl\+C again/);
    screen.press("C-c", "C-c");
    await expectEnd(place, screen, 130);
    expect(screen.text()).not.toContain("pai: interrupted");
  },
);

inTerminal("pai run in a terminal asks; Ctrl+C ends it with 130 and the terminal as it was (R11)", async () => {
  await using place = openPlace(hello);
  using screen = openCommand(place, '"$PAI" run "make hello.txt"', size);
  screen.record(join(place.spare, "bytes"));
  await screen.shows(question);
  screen.press("C-c");
  await expectEnd(place, screen, 130);
  expect(place.tree()).toEqual({});
  const bytes = readFileSync(join(place.spare, "bytes"), "utf8");
  expect(bytes.split("\x1b[?2004").at(-1)).toStartWith("l");
});

inTerminal("/effort tells the model how hard to think from the next task on", async () => {
  await using place = openPlace([talked("One."), talked("Two."), talked("Three.")]);
  using screen = await openSession(place, '"$PAI"', size);
  await screen.say("one?", /One\./);
  await screen.say("/effort hard", /unknown effort: hard/);
  await screen.say("/effort low", /effort: low/);
  await screen.say("two?", /Two\./);
  await screen.say("/effort default", /effort: the model's own/);
  await screen.say("three?", /Three\./);
  const levels = place.gemini.requests.map(({ body }) => /"thinkingLevel":"(\w+)"/.exec(body)?.[1] ?? null);
  expect(levels).toEqual([null, "LOW", null]);
  await leave(place, screen);
});

/** True when the process has gone within three seconds. */
const pidIn = ({ spare }: Place) => Number(readFileSync(join(spare, "pid"), "utf8"));

inTerminal("a terminal that is closed ends the session with it, at the prompt, at a question, in a run", async () => {
  for (const at of ["prompt", "question", "run"]) {
    await using place = openPlace([
      planned(["WRITE hello.txt"]),
      { ...done(write("hello.txt", "a\n")), delayMs: 20_000 },
    ]);
    const screen = await openSession(place, `sh -c 'echo $$ > ../spare/pid; exec "$PAI"'`, size);
    if (at !== "prompt") {
      await screen.say("make hello.txt", question);
    }
    if (at === "run") {
      screen.enter("y");
      await place.gemini.arrived(2);
    }
    screen[Symbol.dispose]();
    expect([at, await ends(pidIn(place)), place.tree()]).toEqual([at, true, {}]);
    expect(Object.values(readTree(place.home)).join("")).not.toContain("setRawMode");
  }
});

inTerminal("what is meant for a shell or lacks its slash costs nothing; undo and redo are both here", async () => {
  await using place = openPlace(hello);
  using screen = await openSession(place, '"$PAI"', size);
  await screen.say("help", /did you mean \/help\?/);
  await screen.say("history", /history is not a task\n.*in a shell: pai history/);
  await screen.say("pai undo", /pai undo is for a shell; here: \/undo/);
  expect(place.gemini.requests).toHaveLength(0);
  await screen.say("make hello.txt", question);
  await screen.say("lanjut", /here: \/undo/, 2);
  await screen.shows(ready, 5);
  await screen.say("/undo", /go on\? y or n/);
  await screen.say("y", /undone run/);
  expect(place.tree()).toEqual({});
  await screen.say("/redo", /go on\? y or n/, 2);
  await screen.say("y", /redone run/);
  expect(place.tree()).toEqual({ "hello.txt": "hello\n" });
});

inTerminal("Ctrl+C in one command and then in another ends both, shows what they wrote, not the session", async () => {
  await using place = openPlace();
  using screen = await openSession(place, '"$PAI"', size);
  for (const time of [1, 2]) {
    await screen.say(
      `!echo begun; touch ../spare/${time}; sleep 60`,
      /running echo begun; touch \S+; sleep 60(?:, \d+ s)? · Esc stops/,
    );
    // The line is there before the command, which writes nothing that is shown before its end.
    await comesTrue(() => existsSync(join(place.spare, `${time}`)));
    screen.press("C-c");
    await screen.shows(/^begun\ninterrupted; goes with your next message/m, time);
    await screen.shows(ready, time + 1);
  }
  screen.press("C-d");
  await expectEnd(place, screen, 0);
});
