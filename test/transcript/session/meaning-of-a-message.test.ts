/** What a message means to a session, at a terminal and without one. */
import { expect } from "bun:test";
import { readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { done, planned, talked, write } from "../replies.ts";
import { inTerminal, lastAsked, openSession, ready } from "../screen.ts";

inTerminal("an empty line and a slash are never a task, whatever is mistyped behind it; a comment is one", async () => {
  await using place = openPlace([talked("That is a comment.")]);
  using screen = await openSession(place, '"$PAI"', { columns: 60, rows: 40 });
  screen.press("Enter", "Enter");
  for (const [at, line] of ["/", "/ help", "/123", "/日本語"].entries()) {
    await screen.say(line, /unknown command: \//, at + 1);
  }
  expect(place.gemini.requests).toHaveLength(0);
  await screen.say("// what does this line say?", /That is a comment/);
  await screen.say("/quit now", /ended with 0/);
});

inTerminal("a no, or a number of no next step, costs nothing; where no steps wait it is a message", async () => {
  const steps = ["Make two.txt", "Make three.txt"];
  await using place = openPlace([
    talked("How many?"),
    talked("None then."),
    planned(["WRITE one.txt"]),
    done(write("one.txt", "1\n"), "Made one.txt.", steps),
    planned(["WRITE three.txt"]),
  ]);
  using screen = await openSession(place, '"$PAI"', { columns: 100, rows: 40 });
  await screen.say("7", /How many\?/);
  await screen.say("no", /None then\./);
  await screen.say("make one.txt", /or say what to change/);
  await screen.say("y", /2\. Make three\.txt/);
  for (const [at, line] of ["3", "0"].entries()) {
    await screen.say(line, /no next step \d/, at + 1);
  }
  await screen.say("tidak", /nothing was done/);
  expect(place.gemini.requests).toHaveLength(4);
  await screen.say("2", /or say what to change/, 2);
  expect(place.gemini.requests[4]?.body).toContain("Make three.txt");
});

inTerminal("a yes answers the question that the last answer ends with; where none was, it costs nothing", async () => {
  await using place = openPlace([talked("It is 3. **Shall I change it?**"), talked("It is 4 now.")]);
  using screen = await openSession(place, '"$PAI"', { columns: 100, rows: 40 });
  await screen.say("what is x?", /Shall I change it\?/);
  await screen.say("yes", /It is 4 now\./);
  expect(lastAsked(place)).toMatch(/\byes\b/);
  await screen.say("yes", /nothing to continue/);
  expect(place.gemini.requests).toHaveLength(2);
});

const make = (name: string) => [planned([`WRITE ${name}`]), done(write(name, "text\n"), `Made ${name}.`)];

inTerminal("--continue tells the task what became of the turns before, and adds a turn", async () => {
  await using place = openPlace([...make("one.txt"), ...make("two.txt"), ...make("three.txt")]);
  using screen = await openSession(place, '"$PAI"', { columns: 100, rows: 40 });
  await screen.say("make one.txt", /or say what to change/);
  await screen.say("y", ready, 2);
  await screen.say("exit", /go on with: pai resume/);
  await place.pai(["undo", "-y"]);
  const ran = await place.pai(["run", "-y", "--json", "--continue", "make two.txt"]);
  expect(readOutcome(ran)).toMatchObject({ ok: true, text: "Made two.txt." });
  const asked = place.gemini.requests[2]?.body ?? "";
  for (const words of ["make one.txt", "undone by the user"]) expect(asked).toContain(words);
  const listed = await place.pai(["resume", "--list"]);
  expect(listed.stdout).toMatch(/^\S+ {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}2 turns {2}/);
  const id = listed.stdout.split(" ")[0] ?? "";
  expect((await place.pai(["resume", "-y", "--continue", id, "make three.txt"])).code).toBe(0);
  expect((await place.pai(["resume", "--list"])).stdout).toContain("3 turns");
  expect((await place.pai(["run", "--continue=20010101", "make it"])).code).toBe(2);
});
