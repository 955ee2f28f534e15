/** What the answers to a question do: one key where words are no answer, `a` holds for the session, `?` explains. */
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace } from "../harness.ts";
import { called, done, planned, says, write } from "../replies.ts";
import { inTerminal, openScreen, ready } from "../screen.ts";

inTerminal("? explains, and at the diff words make it anew", async () => {
  await using place = openPlace([
    planned([["WRITE", "a.txt"]]),
    done(write("a.txt", "one\n"), "Made it."),
    done(write("a.txt", "uno\n"), "Made it anew."),
  ]);
  using screen = openScreen(place, { columns: 100, rows: 50 });
  screen.enter('"$PAI"');
  await screen.shows(ready);
  screen.enter("make a.txt");
  await screen.shows(/or say what to change/);
  screen.enter("?");
  await screen.shows(/d +yes, and show the diff before it is applied/);
  expect(place.gemini.requests).toHaveLength(1);
  screen.enter("d");
  await screen.shows(/apply\?/);
  screen.enter("in Italian please");
  await screen.shows(/apply\?/, 2);
  screen.enter("y");
  await screen.shows(/Made it anew\./);
  expect(place.tree()).toEqual({ "a.txt": "uno\n" });
  screen.enter("/export talk.md");
  await screen.shows(/1 turn written to talk\.md/);
  expect(readFileSync(join(place.root, "talk.md"), "utf8")).toMatch(
    /## make a\.txt[\s\S]*Made it anew\.[\s\S]*\*kept: 1 file/,
  );
  screen.enter("/export talk.md");
  await screen.shows(/talk\.md exists/);
});

inTerminal("a holds for exactly this command; words where they are no answer are refused in a sentence", async () => {
  const bash = (command: string) => called(["bash", { command }]);
  await using place = openPlace([bash("echo one"), bash("echo one"), bash("echo two"), says("Ran them.")]);
  using screen = openScreen(place, { columns: 100, rows: 50 });
  screen.enter('"$PAI" --mode tool-loop');
  await screen.shows(ready);
  screen.enter("run them");
  await screen.shows(/run\? y, n or a \(always this command\)/);
  screen.enter("no, keep it");
  await screen.shows(/this question takes no other words[\s\S]*; Up at the prompt brings back what you typed/);
  screen.enter("a");
  await screen.shows(/run\?/, 3);
  expect(screen.text()).toMatch(/│ echo two/);
  screen.press("y");
  await screen.shows(/Ran them\./);
  screen.enter("/allow");
  await screen.shows(/1\. the command echo one/);
  screen.enter("/allow drop 1");
  await screen.shows(/asked again: echo one/);
  for (let n = 0; n < 3; n += 1) screen.press("Up");
  await screen.shows(/pai> no, keep it$/m);
});

inTerminal("a plan that only runs commands takes always, too, and /allow holds for it", async () => {
  const test = planned([["RUN", "echo one"]]);
  const ran = (said: string) => done("RUN::echo one\n", said);
  await using place = openPlace([test, ran("Once."), test, ran("Twice."), test, ran("Thrice.")]);
  using screen = openScreen(place, { columns: 100, rows: 50 });
  screen.enter('"$PAI"');
  await screen.shows(ready);
  screen.enter("run the first");
  await screen.shows(/run\? y, n, a \(always this command\), or say what to change/);
  screen.enter("always");
  await screen.shows(/Once\./);
  screen.enter("run it again");
  await screen.shows(/Twice\./);
  screen.enter("/allow drop 1");
  await screen.shows(/asked again: echo one/);
  screen.enter("/allow echo *");
  await screen.shows(/commands like echo \*/);
  screen.enter("run it thrice");
  await screen.shows(/Thrice\./);
  expect(screen.text().match(/run\? y/g)).toHaveLength(1);
});
