/** What the next request of a session is told of the turns before: what became of them, whatever the model had said. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace } from "../harness.ts";
import { done, modify, planned, talked } from "../replies.ts";
import { inTerminal, lastAsked, openScreen, ready, type Screen } from "../screen.ts";

const question = /or say what to change/;
const claim = "I have done all of it.";

const conversationIn = (asked: string) => /<conversation[^>]*>\n([\s\S]*?)<\/conversation>/.exec(asked)?.[1] ?? "";

async function answer(screen: Screen, pattern: RegExp, times: number, text: string) {
  await screen.shows(pattern, times);
  screen.enter(text);
}

inTerminal("what was declined, kept and undone is told as that, with the diff of what stands", async () => {
  const edit = [planned([["MODIFY", "a.py"]]), done(modify("a.py", "x = 1\n", "x = 2\n"), claim)];
  await using place = openPlace([...edit, ...edit, talked("One."), talked("Two."), talked("Three."), talked("Four.")]);
  writeFileSync(join(place.root, "a.py"), "x = 1\n");
  using screen = openScreen(place, { columns: 100, rows: 50 });
  screen.enter('"$PAI"');
  await screen.shows(ready);
  screen.enter("set x to 2");
  await answer(screen, question, 1, "d");
  await answer(screen, /apply\?/, 1, "n");
  await screen.shows(ready, 2);
  screen.enter("set x to 2 after all");
  await screen.shows(question, 3);
  expect(conversationIn(lastAsked(place))).toBe("pai: not applied, the user declined the changes to a.py\n");
  expect(place.gemini.requests.at(-1)?.body).not.toContain(claim);
  screen.enter("y");
  await screen.shows(ready, 3);
  screen.enter("what is there now?");
  await screen.shows(/One\./);
  expect(conversationIn(lastAsked(place))).toBe(
    "pai: kept: 1 file (+1 −1), unverified: no check has proved this; changed: a.py\n",
  );
  screen.enter("/undo");
  await answer(screen, /go on\? y or n/, 1, "y");
  await screen.shows(/undone run/);
  screen.enter("and now?");
  await screen.shows(/Two\./);
  expect(lastAsked(place)).toContain('- undone by the user: what you did for "set x to 2 after all"');
  writeFileSync(join(place.root, "a.py"), "x = 3\n");
  screen.enter("and now, once more?");
  await screen.shows(/Three\./);
  expect(lastAsked(place)).toContain("- changed since your last turn, not by you: a.py");
  expect(lastAsked(place)).not.toContain("undone by the user: what");
  screen.enter("/quit");
  await screen.shows(/go on with: pai resume/);
  screen.enter('"$PAI" resume');
  await screen.shows(
    /> set x to 2 after all\n\nundone by the user: its files went back[^>]*\n\n> what is there now\?\n\nOne\./,
  );
  screen.enter("where were we?");
  const undone = "undone by the user: its files went back, and nothing else; before that: ";
  await screen.shows(/Four\./);
  expect(conversationIn(lastAsked(place))).toBe(
    [
      ...["user: set x to 2", "pai: not applied, the user declined the changes to a.py"],
      ...[
        "user: set x to 2 after all",
        `pai: ${undone}kept: 1 file (+1 −1), unverified: no check has proved this; changed: a.py`,
      ],
      ...["user: what is there now?", "you: One.", "pai: answered; nothing was changed"],
      ...["pai: before the next request:", '  - undone by the user: what you did for "set x to 2 after all"'],
      ...["user: and now?", "you: Two.", "pai: answered; nothing was changed"],
      ...["pai: before the next request:", "  - changed since your last turn, not by you: a.py"],
      ...["user: and now, once more?", "you: Three.", "pai: answered; nothing was changed", ""],
    ].join("\n"),
  );
});
