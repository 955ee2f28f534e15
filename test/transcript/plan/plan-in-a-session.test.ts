/** `/plan` in a session: a plan and nothing else, until it is confirmed. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCommand } from "../contract.ts";
import { openPlace, type Place } from "../harness.ts";
import { done, planned, talked, write } from "../replies.ts";
import { inTerminal, openScreen, ready, type Screen } from "../screen.ts";

const question = /or say what to change/;
const plan = planned([["WRITE", "hello.txt"]], { reply: "I will make hello.txt." });

async function open(place: Place, words = ""): Promise<Screen> {
  const screen = openScreen(place, { columns: 90, rows: 50 });
  screen.enter(`"$PAI" ${words}; echo "ended with $?"`);
  await screen.shows(ready);
  return screen;
}

for (const mode of ["single-shot", "tool-loop"]) {
  inTerminal(
    `/plan shows a plan and changes nothing; y then carries it out without a second question, by one more call (${mode})`,
    async () => {
      await using place = openPlace([plan, done(write("hello.txt", "hello\n"), "Made it.")]);
      using screen = await open(place, `--mode ${mode}`);
      screen.enter("/plan make hello.txt");
      await screen.shows(/I will make hello\.txt\./);
      await screen.shows(/WRITE\s+hello\.txt/);
      await screen.shows(/y carries it out/);
      await screen.shows(ready, 2);
      expect([place.gemini.requests.length, place.tree(), question.test(screen.text())]).toEqual([1, {}, false]);
      screen.enter("y");
      await screen.shows(/Made it\./);
      await screen.shows(/1 call \(expected 1, at most 2\)/);
      expect([place.gemini.requests.length, place.tree()]).toEqual([2, { "hello.txt": "hello\n" }]);
      expect(question.test(screen.text())).toBe(false);
      await screen.shows(ready, 3);
      screen.enter("y");
      await screen.shows(/nothing to continue/);
      const { data } = readCommand(await place.pai(["history", "--json"]));
      const { runs } = data as { readonly runs: readonly { readonly id: string }[] };
      const replayed = readCommand(await place.pai(["replay", "--json", runs[0]?.id ?? ""]));
      expect(replayed.data).toMatchObject({ same: true, changed: 1, difference: null });
      screen.enter("exit");
      await screen.shows(/ended with 0/);
    },
  );
}

inTerminal("a plan waits for its yes only until something else happens; no leaves everything as it was", async () => {
  await using place = openPlace([plan, talked("It is a greeting."), plan, plan]);
  using screen = await open(place);
  screen.enter("/plan");
  await screen.shows(/\/plan needs a task/);
  screen.enter("/plan make hello.txt");
  await screen.shows(/y carries it out/);
  screen.enter("what is hello?");
  await screen.shows(/It is a greeting\./);
  await screen.shows(ready, 4);
  screen.enter("y");
  await screen.shows(/nothing to continue/);
  screen.enter("/plan make hello.txt");
  await screen.shows(/y carries it out/, 2);
  screen.enter("/clear");
  await screen.shows(/cleared/);
  screen.enter("y");
  await screen.shows(/nothing to continue/, 2);
  screen.enter("/plan make hello.txt");
  await screen.shows(/y carries it out/, 3);
  screen.enter("n");
  await screen.shows(/nothing was done/);
  expect([place.gemini.requests.length, place.tree()]).toEqual([4, {}]);
});

inTerminal("a question behind /plan is answered, and nothing waits for a yes", async () => {
  await using place = openPlace([talked("Nothing to plan here.")]);
  using screen = await open(place);
  screen.enter("/plan what time is it?");
  await screen.shows(/Nothing to plan here\./);
  await screen.shows(ready, 2);
  expect(screen.text()).not.toContain("carries it out");
  screen.enter("y");
  await screen.shows(/nothing to continue/);
});

inTerminal("a plan is gone with its session: a yes in the resumed one says so, and offers the task again", async () => {
  await using place = openPlace([planned([["WRITE", "a.txt"]])]);
  using screen = openScreen(place, { columns: 100, rows: 50 });
  screen.enter('"$PAI"');
  await screen.shows(ready);
  screen.enter("/plan make a.txt");
  await screen.shows(/y carries it out/);
  await screen.shows(ready, 2);
  screen.enter("exit");
  await screen.shows(/go on with: pai resume/);
  screen.enter('"$PAI" resume');
  await screen.shows(/^session \S+, 1 turn[\s\S]*^pai> /m);
  screen.enter("y");
  await screen.shows(/no plan of the last task is left; Enter sends the task again\s+pai> make a\.txt *$/m);
  expect(place.gemini.requests).toHaveLength(1);
});

inTerminal(
  "a shown plan is asked about where it runs a command; what the user then corrects goes to the model",
  async () => {
    const runs = planned([
      ["WRITE", "hello.txt"],
      ["RUN", "cat hello.txt"],
    ]);
    await using place = openPlace([runs, plan, done(write("hello.txt", "hello\n"), "Made it.")]);
    using screen = await open(place);
    screen.enter("/plan make hello.txt");
    await screen.shows(/y carries it out/);
    await screen.shows(ready, 2);
    screen.enter("y");
    await screen.shows(/It runs[\s\S]*or say what to change/);
    screen.enter("without the command, please");
    await screen.shows(/I will make hello\.txt\.[\s\S]*or say what to change/);
    screen.enter("y");
    await screen.shows(/Made it\./);
    expect(place.gemini.requests[1]?.body).toContain("Change the plan: without the command, please");
    expect([place.gemini.requests.length, place.tree()]).toEqual([3, { "hello.txt": "hello\n" }]);
    const { data } = readCommand(await place.pai(["history", "--json"]));
    const { runs: kept } = data as { readonly runs: readonly { readonly id: string }[] };
    const replayed = readCommand(await place.pai(["replay", "--json", kept[0]?.id ?? ""]));
    expect(replayed.data).toMatchObject({ same: true, changed: 1, difference: null });
  },
);

inTerminal("a shown plan is asked about again where its files have changed since", async () => {
  await using place = openPlace([planned([["MODIFY", "a.txt"]]), done("")], { "a.txt": "one\n" });
  using screen = await open(place);
  screen.enter("/plan change @a.txt");
  await screen.shows(/y carries it out/);
  await screen.shows(ready, 2);
  writeFileSync(join(place.root, "a.txt"), "two\n");
  screen.enter("y");
  await screen.shows(question);
  screen.enter("n");
  await screen.shows(/declined/);
  expect(place.gemini.requests).toHaveLength(1);
});
