/** What a message of a session means before it costs anything: commands, numbers, words that leave. */
import { expect } from "bun:test";
import { openPlace } from "../harness.ts";
import { done, planned, talked, write } from "../replies.ts";
import { inTerminal, lastAsked, openScreen, ready } from "../screen.ts";

inTerminal("a slash is never a task, whatever is mistyped behind it; a comment is one", async () => {
  await using place = openPlace([talked("That is a comment.")]);
  using screen = openScreen(place, { columns: 60, rows: 40 });
  screen.enter('"$PAI"; echo "ended with $?"');
  await screen.shows(ready);
  for (const [at, line] of ["/", "/ help", "/123", "/日本語"].entries()) {
    screen.enter(line);
    await screen.shows(/unknown command: \//, at + 1);
  }
  expect(place.gemini.requests).toHaveLength(0);
  screen.enter("// what does this line say?");
  await screen.shows(/That is a comment/);
  screen.enter("/quit now");
  await screen.shows(/ended with 0/);
});

inTerminal("a no, or a number of no next step, costs nothing; where no steps wait it is a message", async () => {
  const steps = ["Make two.txt", "Make three.txt"];
  await using place = openPlace([
    talked("How many?"),
    talked("None then."),
    planned([["WRITE", "one.txt"]]),
    done(write("one.txt", "1\n"), "Made one.txt.", steps),
    planned([["WRITE", "three.txt"]]),
  ]);
  using screen = openScreen(place, { columns: 100, rows: 40 });
  screen.enter('"$PAI"');
  await screen.shows(ready);
  screen.enter("7");
  await screen.shows(/How many\?/);
  screen.enter("no");
  await screen.shows(/None then\./);
  screen.enter("make one.txt");
  await screen.shows(/or say what to change/);
  screen.enter("y");
  await screen.shows(/2\. Make three\.txt/);
  for (const [at, line] of ["3", "0"].entries()) {
    screen.enter(line);
    await screen.shows(/no next step \d/, at + 1);
  }
  screen.enter("tidak");
  await screen.shows(/nothing was done/);
  expect(place.gemini.requests).toHaveLength(4);
  screen.enter("2");
  await screen.shows(/or say what to change/, 2);
  expect(place.gemini.requests[4]?.body).toContain("Make three.txt");
});

inTerminal(
  "a yes answers the question that the last answer ends with; where none was asked, it costs nothing",
  async () => {
    await using place = openPlace([talked("It is 3. **Shall I change it?**"), talked("It is 4 now.")]);
    using screen = openScreen(place, { columns: 100, rows: 40 });
    screen.enter('"$PAI"');
    await screen.shows(ready);
    screen.enter("what is x?");
    await screen.shows(/Shall I change it\?/);
    screen.enter("yes");
    await screen.shows(/It is 4 now\./);
    expect(lastAsked(place)).toMatch(/\byes\b/);
    screen.enter("yes");
    await screen.shows(/nothing to continue/);
    expect(place.gemini.requests).toHaveLength(2);
  },
);
