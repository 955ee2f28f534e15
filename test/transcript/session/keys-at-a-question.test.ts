/** What the keys do at a question: one key is enough where words are no answer, `a` holds for the session, `?` explains. */
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace } from "../harness.ts";
import { called, done, planned, says, write } from "../replies.ts";
import { inTerminal, openScreen, ready } from "../screen.ts";

inTerminal("a yes that adds nothing asks back, ? explains, and at the diff words make it anew", async () => {
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
  screen.enter("yes please");
  await screen.shows(/is that a yes\? answer y/);
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

inTerminal("one key answers where words are no answer, and a holds for exactly this command", async () => {
  const bash = (command: string) => called(["bash", { command }]);
  await using place = openPlace([bash("echo one"), bash("echo one"), bash("echo two"), says("Ran them.")]);
  using screen = openScreen(place, { columns: 100, rows: 50 });
  screen.enter('"$PAI" --mode tool-loop');
  await screen.shows(ready);
  screen.enter("run them");
  await screen.shows(/run\? y, n or a \(always this command\)/);
  screen.press("a");
  await screen.shows(/run\?/, 2);
  expect(screen.text()).toMatch(/│ echo two/);
  screen.press("y");
  await screen.shows(/Ran them\./);
  screen.enter("/allow");
  await screen.shows(/1\. the command echo one/);
  screen.enter("/allow drop 1");
  await screen.shows(/asked again: echo one/);
});
