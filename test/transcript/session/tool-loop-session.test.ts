/** tool-loop in a real terminal: sessions that are gone on with, rewinding, and a turn that is killed. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace, type Place } from "../harness.ts";
import { called, says, writeCall } from "../replies.ts";
import { inTerminal, openScreen, ready, type Screen } from "../screen.ts";

const question = /Apply these changes\?/;

function open(place: Place, words = ""): Screen {
  const screen = openScreen(place, { columns: 120, rows: 50 });
  screen.enter(
    `sh -c 'echo $$ > ../spare/pid; exec "$PAI" --mode tool-loop --sandbox off ${words}'; echo "ended with $?"`,
  );
  return screen;
}

/** Types a task and says yes to its changes, which are the n-th that the screen asks about. */
async function allow(screen: Screen, task: string, n = 1): Promise<void> {
  await screen.say(task, question, n);
  screen.enter("y");
}

inTerminal("rewinding after a restart: files in any spelling, those of commands too, messages and tasks", async () => {
  const tasks = [{ content: "Count up", description: "in a.txt" }];
  await using place = openPlace([
    called(writeCall("a.txt", "one\n")),
    says("Made one."),
    called(["write_tasks", { tasks }], ["edit", { path: "./a.txt", old_str: "one", new_str: "two" }]),
    called(["bash", { command: "echo made > by-command.txt" }]),
    says("Made two."),
    says("Going on."),
  ]);
  {
    using screen = open(place);
    await screen.shows(ready);
    await allow(screen, "first");
    await screen.shows(/Made one\./);
    await screen.shows(ready, 2);
    await allow(screen, "second", 2);
    await screen.shows(/echo made/);
    await screen.say("y", /Made two\./);
    await screen.shows(ready, 3);
    await screen.say("/tasks", /1\. Count up/);
    await screen.say("exit", /ended with 0/);
  }
  expect(place.tree()).toEqual({ "a.txt": "two\n", "by-command.txt": "made\n" });
  using screen = open(place, "resume");
  await screen.shows(/2 turns, 1 task\s+> first\s+Made one\.[\s\S]*> second\s+Made two\./);
  await screen.shows(ready);
  await screen.say("/rewind", /2 .*second/);
  await screen.say("/rewind 2 both", /Take back 1 run: [^?]*\?\s+go on\?/);
  screen.press("n");
  await screen.shows(/nothing was changed/);
  await screen.say("/rewind 2 both", /go on\?/, 2);
  screen.press("y");
  await screen.shows(/files and conversation went back to before turn 2: 1 run taken back/);
  expect(place.tree()).toEqual({ "a.txt": "one\n" });
  expect(JSON.parse((await place.pai(["stats", "--json"])).stdout).data.total.undone).toBe(1);
  await screen.say("/tasks", /No tasks\./);
  await screen.say("/rewind 2 both", /unknown turn: 2/);
  await screen.say("third", /Going on\./);
  const sent = place.gemini.requests.at(-1)?.body ?? "";
  expect([sent.includes("Made one."), sent.includes("Made two.")]).toEqual([true, false]);
  await screen.shows(ready, 6);
  await screen.say("/rewind 1 code", /go on\?/, 3);
  screen.press("y");
  await screen.shows(/files went back to before turn 1/);
  expect(place.tree()).toEqual({});
  await screen.say("/rewind 1 code", /no files were taken back/);
});

inTerminal("what the user changed later is not rewound over: it is named before any question", async () => {
  await using place = openPlace([called(writeCall("a.txt", "one\n")), says("Made one.")]);
  using screen = open(place);
  await screen.shows(ready);
  await allow(screen, "first");
  await screen.shows(/Made one\./);
  await screen.shows(ready, 2);
  writeFileSync(join(place.root, "a.txt"), "mine\n");
  await screen.say("/rewind 1 both", /changed since: a\.txt/);
  await screen.shows(ready, 3);
  expect(place.tree()).toEqual({ "a.txt": "mine\n" });
  await screen.say("/rewind", /first/, 2);
});

inTerminal("/clear starts another session and keeps the old one; list, show, export and prune know both", async () => {
  await using place = openPlace([says("First answer."), says("Second answer.")]);
  using screen = open(place);
  await screen.shows(ready);
  await screen.say("first", /First answer\./);
  await screen.shows(ready, 2);
  await screen.say("/clear now", /\/clear takes no words; nothing was cleared/);
  await screen.shows(ready, 3);
  await screen.say("/clear", /cleared: /);
  await screen.shows(ready, 4);
  await screen.say("second", /Second answer\./);
  expect(place.gemini.requests.at(-1)?.body).not.toContain("First answer.");
  await screen.say("/context", /The session holds 1 turn, 2 messages of work step by step/);
  await screen.say("exit", /ended with 0/);
  const listed = await place.pai(["resume", "--list"]);
  expect(listed.stdout).toMatch(/1 turn {2}second\n.*1 turn {2}first\n/);
  expect((await place.pai(["resume", "--prune"])).stdout).toBe("0 sessions deleted\n");
});
