/** A session goes on without a terminal: the next task knows what became of each turn, and is a turn itself. */
import { expect } from "bun:test";
import { readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { done, planned, write } from "../replies.ts";
import { inTerminal, openSession, ready } from "../screen.ts";

const make = (name: string) => [planned([["WRITE", name]]), done(write(name, "text\n"), `Made ${name}.`)];

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
