/** Ctrl+C during the work of an approved plan, then y: it is carried on, without planning again and without a question. */
import { expect } from "bun:test";
import { schedule, verdict } from "../../flows/plans.ts";
import { expectSameReplay } from "../contract.ts";
import { type Answer, openPlace, type Place } from "../harness.ts";
import { done, planned, write } from "../replies.ts";
import { inTerminal, openSession, ready, type Screen } from "../screen.ts";

const question = /or say what to change/g;
const offered = /y carries the plan on, without planning again/;
const plan = planned(["WRITE hello.txt"]);
const work = done(write("hello.txt", "hello\n"), "Made it.");
const slow = { ...work, delayMs: 20_000 };
const scheduled: Answer = { text: schedule({ steps: ["Write hello", "Write bye"], create: ["hello.txt", "bye.txt"] }) };
const passed: Answer = { text: verdict() };
const act = (path: string): Answer => ({ text: write(path, "hello\n") });
const summary: Answer = { text: "Made both." };

/** Opens a session, gives the task, approves it, and presses Ctrl+C when the `nth` request has arrived. */
async function interruptAt(place: Place, nth: number, flags: string, yes = "y"): Promise<Screen> {
  const screen = await openSession(place, `"$PAI" ${flags}`, { columns: 100, rows: 50 });
  await screen.say("make hello.txt", question);
  screen.enter(yes);
  await place.gemini.arrived(nth);
  screen.press("C-c");
  await screen.shows(offered);
  await screen.shows(ready, 2);
  expect(place.tree()).toEqual({});
  return screen;
}

const questionsIn = (screen: Screen) => screen.text().match(question)?.length ?? 0;

inTerminal("the plan goes on with one call", async () => {
  await using place = openPlace([plan, slow, work]);
  using screen = await interruptAt(place, 2, "");
  await screen.say("y", /Made it\./);
  await screen.shows(/1 call \(expected 1, at most 2\)/);
  expect([place.gemini.requests.length, questionsIn(screen)]).toEqual([3, 1]);
  expect(place.tree()).toEqual({ "hello.txt": "hello\n" });
  expect(place.gemini.requests[2]?.body).toContain("Plan:\\n1. WRITE hello.txt");
  await screen.shows(ready, 3);
  await screen.say("y", /nothing to continue/);
  await expectSameReplay(place, 1);
});

inTerminal("a schedule goes on with its steps, from the first: what was done was taken back", async () => {
  const rest = [act("hello.txt"), passed, act("bye.txt"), passed, summary];
  await using place = openPlace([scheduled, act("hello.txt"), passed, { ...act("bye.txt"), delayMs: 20_000 }, ...rest]);
  using screen = await interruptAt(place, 4, "--mode eight-step");
  await screen.say("y", /Made both\./);
  await screen.shows(/5 calls \(expected 5, at most 8\)/);
  const steps = place.gemini.requests.slice(4).flatMap(({ body }) => body.match(/Step \d of 2: [\w ]+/g)?.at(-1) ?? []);
  expect(steps).toEqual(["Step 1 of 2: Write hello", "Step 2 of 2: Write bye"]);
  expect([questionsIn(screen), place.tree()]).toEqual([1, { "bye.txt": "hello\n", "hello.txt": "hello\n" }]);
  await expectSameReplay(place, 2);
});

inTerminal("a wish to see the diff first holds, and a second interrupt can be carried on too", async () => {
  await using place = openPlace([plan, slow, slow, work]);
  using screen = await interruptAt(place, 2, "", "d");
  screen.enter("y");
  await place.gemini.arrived(3);
  screen.press("C-c");
  await screen.shows(offered, 2);
  await screen.shows(ready, 3);
  await screen.say("y", /Apply these changes\?/);
  expect(place.tree()).toEqual({});
  await screen.say("n", /declined/);
  expect([place.gemini.requests.length, place.tree()]).toEqual([4, {}]);
});

inTerminal("where a queued line stands at the prompt, the way to carry on begins with clearing it", async () => {
  await using place = openPlace([plan, slow, work]);
  using screen = await openSession(place, '"$PAI"', { columns: 120, rows: 50 });
  await screen.say("make hello.txt", question);
  screen.enter("y");
  await place.gemini.arrived(2);
  screen.press("say it politely", "Enter");
  await screen.shows(/next: say it politely/);
  screen.press("C-c");
  await screen.shows(/Enter sends the line at the prompt; clear it \(Ctrl\+U\), then y carries the plan on/);
  await screen.shows(/^pai> say it politely *$/m);
  screen.press("C-u", "y", "Enter");
  await screen.shows(/Made it\./);
  expect([place.gemini.requests.length, place.tree()]).toEqual([3, { "hello.txt": "hello\n" }]);
});

inTerminal("Ctrl+C at the question keeps the plan, with what was corrected: a yes asks about it again", async () => {
  await using place = openPlace([plan, plan, work]);
  using screen = await openSession(place, '"$PAI"', { columns: 100, rows: 50 });
  await screen.say("make hello.txt", question);
  await screen.say("say it politely", question, 2);
  screen.press("C-c");
  await screen.shows(/y asks about this plan again/);
  await screen.shows(ready, 2);
  await screen.say("y", question, 3);
  expect([place.gemini.requests.length, place.tree()]).toEqual([2, {}]);
  await screen.say("y", /Made it\./);
  expect(place.gemini.requests[2]?.body).toContain("say it politely");
  expect(place.tree()).toEqual({ "hello.txt": "hello\n" });
});
