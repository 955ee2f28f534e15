/** `/plan` in a session: a plan and nothing else, until it is confirmed. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectSameReplay } from "../contract.ts";
import { openPlace, type Place } from "../harness.ts";
import { done, planned, talked, write } from "../replies.ts";
import { inTerminal, lastAsked, openSession, ready } from "../screen.ts";

const question = /or say what to change/;
const plan = planned(["WRITE hello.txt"], { reply: "I will make hello.txt." });

const open = (place: Place, words = "") => openSession(place, `"$PAI" ${words}`, { columns: 90, rows: 50 });

for (const mode of ["single-shot", "tool-loop"]) {
  inTerminal(
    `/plan changes nothing; y carries its plan out by one more call, without a question (${mode})`,
    async () => {
      await using place = openPlace([plan, done(write("hello.txt", "hello\n"), "Made it.")]);
      using screen = await open(place, `--mode ${mode}`);
      await screen.say("/plan make hello.txt", /I will make hello\.txt\./);
      await screen.shows(/WRITE\s+hello\.txt/);
      await screen.shows(/y carries it out/);
      await screen.shows(ready, 2);
      expect([place.gemini.requests.length, place.tree(), question.test(screen.text())]).toEqual([1, {}, false]);
      await screen.say("y", /Made it\./);
      await screen.shows(/1 call \(expected 1, at most 2\)/);
      expect([place.gemini.requests.length, place.tree()]).toEqual([2, { "hello.txt": "hello\n" }]);
      expect(question.test(screen.text())).toBe(false);
      await screen.shows(ready, 3);
      await screen.say("y", /nothing to continue/);
      await screen.say("/rewind", /1 .* make hello\.txt\s+2 .* y, to the plan for: make hello\.txt/);
      await expectSameReplay(place, 1);
      await screen.say("exit", /ended with 0/);
    },
  );
}

inTerminal("a plan waits for its yes only until something else happens; no leaves everything as it was", async () => {
  await using place = openPlace([plan, talked("It is a greeting."), plan, plan, talked("None.")]);
  using screen = await open(place);
  await screen.say("/plan", /\/plan needs a task/);
  await screen.say("/plan make hello.txt", /y carries it out/);
  await screen.say("what is hello?", /It is a greeting\./);
  await screen.shows(ready, 4);
  await screen.say("y", /nothing to continue/);
  await screen.say("/plan make hello.txt", /y carries it out/, 2);
  await screen.say("/clear", /cleared/);
  await screen.say("y", /nothing to continue/, 2);
  await screen.say("/plan make hello.txt", /y carries it out/, 3);
  await screen.say("n", /nothing was done/);
  expect([place.gemini.requests.length, place.tree()]).toEqual([4, {}]);
  await screen.say("which plan stands?", /None\./);
  expect(lastAsked(place)).toContain(
    'What has happened that you were not told yet:\n- the user said no to the plan for "make hello.txt"\n',
  );
});

inTerminal("a question behind /plan is answered, and nothing waits for a yes", async () => {
  await using place = openPlace([talked("Nothing to plan here.")]);
  using screen = await open(place);
  await screen.say("/plan what time is it?", /Nothing to plan here\./);
  await screen.shows(ready, 2);
  expect(screen.text()).not.toContain("carries it out");
  await screen.say("y", /nothing to continue/);
});

inTerminal("a plan is gone with its session: a yes in the resumed one says so", async () => {
  await using place = openPlace([planned(["WRITE a.txt"])]);
  using screen = await openSession(place, '"$PAI"', { columns: 100, rows: 50 });
  await screen.say("/plan make a.txt", /y carries it out/);
  await screen.shows(ready, 2);
  await screen.say("exit", /go on with: pai resume/);
  await screen.say('"$PAI" resume', /^session \S+, 1 turn[\s\S]*^pai> /m);
  await screen.say("y", /nothing to continue/);
  expect(place.gemini.requests).toHaveLength(1);
});

inTerminal("a shown plan that runs a command is asked about; what the user corrects goes to the model", async () => {
  const runs = planned(["WRITE hello.txt", "RUN cat hello.txt"]);
  await using place = openPlace([runs, plan, done(write("hello.txt", "hello\n"), "Made it.")]);
  using screen = await open(place);
  await screen.say("/plan make hello.txt", /y carries it out/);
  await screen.shows(ready, 2);
  await screen.say("y", /It runs[\s\S]*or say what to change/);
  await screen.say("without the command, please", /I will make hello\.txt\.[\s\S]*or say what to change/);
  await screen.say("y", /Made it\./);
  expect(place.gemini.requests[1]?.body).toContain("Change the plan: without the command, please");
  expect([place.gemini.requests.length, place.tree()]).toEqual([3, { "hello.txt": "hello\n" }]);
  await expectSameReplay(place, 1);
});

inTerminal("a shown plan is asked about again where its files have changed since", async () => {
  await using place = openPlace([planned(["MODIFY a.txt"]), done("")], { "a.txt": "one\n" });
  using screen = await open(place);
  await screen.say("/plan change @a.txt", /y carries it out/);
  await screen.shows(ready, 2);
  writeFileSync(join(place.root, "a.txt"), "two\n");
  await screen.say("y", question);
  await screen.say("n", /declined/);
  expect(place.gemini.requests).toHaveLength(1);
});
