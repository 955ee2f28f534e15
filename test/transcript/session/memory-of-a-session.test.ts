/** What the next request of a session is told of the turns before: what became of them, whatever the model had said. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace } from "../harness.ts";
import { called, done, modify, planned, says, talked, write, writeCall } from "../replies.ts";
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

inTerminal("what a red check took back is told as rolled back, and the words of the model are not", async () => {
  const make = (words: string) => done(write("new.txt", "x\n"), words);
  await using place = openPlace([
    planned([["WRITE", "new.txt"]]),
    make("Tried."),
    make(claim),
    talked("So it is."),
    talked("As before."),
  ]);
  using screen = openScreen(place, { columns: 100, rows: 50 });
  screen.enter('"$PAI" --check false');
  await screen.shows(ready);
  screen.enter("make new.txt");
  await answer(screen, question, 1, "y");
  await answer(screen, /keep\?/, 1, "n");
  await screen.shows(ready, 2);
  screen.enter("did it work?");
  await screen.shows(/So it is\./);
  expect(conversationIn(lastAsked(place))).toMatch(/^pai: rolled back, as the user chose when asked, failed: .*false/);
  expect(place.gemini.requests.at(-1)?.body).not.toContain(claim);
  screen.enter("/quit");
  await screen.shows(/go on with: pai resume/);
  screen.enter('"$PAI" resume');
  await screen.shows(/session \S+, 2 turns/);
  screen.enter("do it again, but with y");
  await screen.shows(/As before\./);
  expect(conversationIn(lastAsked(place))).toMatch(/what was taken back:\n {2}diff [\s\S]*new\.txt[\s\S]*\n {2}\+x\n/);
});

inTerminal("tool-loop is told what became of its last turn, and the turns of other modes since", async () => {
  await using place = openPlace([
    called(writeCall("a.txt", "one\n")),
    says("Made a.txt."),
    talked("It holds one line."),
    says("Right."),
  ]);
  using screen = openScreen(place, { columns: 100, rows: 50 });
  screen.enter('"$PAI" --mode tool-loop');
  await screen.shows(ready);
  screen.enter("make a.txt");
  await answer(screen, /apply\?/, 1, "y");
  await screen.shows(/Made a\.txt\./);
  screen.enter("/mode single-shot");
  await screen.shows(/mode: single-shot/);
  screen.enter("what is in it?");
  await screen.shows(/It holds one line\./);
  screen.enter("/mode tool-loop");
  await screen.shows(/mode: tool-loop/);
  screen.enter("is that so?");
  await screen.shows(/Right\./);
  expect(conversationIn(lastAsked(place))).toBe(
    [
      "pai: kept: 1 file (+1 −0), unverified: no check has proved this; changed: a.txt",
      "user: what is in it?",
      "you: It holds one line.",
      "pai: answered; nothing was changed",
      "",
    ].join("\n"),
  );
});

inTerminal("an answer is known to the next request, also where the user's own check is red", async () => {
  const answer = (text: string) => ({ text: `FINISH::EOT\n${text}\nEOT\n` });
  await using place = openPlace([answer("It says hello."), answer("Nothing else.")]);
  writeFileSync(join(place.root, "a.py"), "print('hello')\n");
  using screen = openScreen(place, { columns: 100, rows: 50 });
  screen.enter('"$PAI" --check false');
  await screen.shows(ready);
  screen.enter("what does a.py say?");
  await screen.shows(/It says hello\./);
  await screen.shows(ready, 2);
  screen.enter("and what else?");
  await screen.shows(/Nothing else\./);
  expect(place.gemini.requests.at(-1)?.body).toContain("It says hello.");
  expect(place.gemini.requests.at(-1)?.body).not.toContain("taken back");
});

inTerminal("an undo and a turn of another process are known before the next task", async () => {
  await using place = openPlace([
    ...[planned([["MODIFY", "a.py"]]), done(modify("a.py", "x = 1\n", "x = 2\n"), claim)],
    ...[talked("Outside."), talked("Inside.")],
  ]);
  writeFileSync(join(place.root, "a.py"), "x = 1\n");
  using screen = openScreen(place, { columns: 100, rows: 50 });
  screen.enter('"$PAI"');
  await screen.shows(ready);
  screen.enter("set x to 2");
  await answer(screen, question, 1, "y");
  await screen.shows(ready, 2);
  screen.enter("/undo");
  await answer(screen, /go on\? y or n/, 1, "y");
  await screen.shows(/undone run/);
  screen.enter("/quit");
  await screen.shows(/go on with: pai resume/);
  screen.enter('"$PAI" resume');
  await screen.shows(/> set x to 2\n\nundone by the user: its files went back/);
  expect((await place.pai(["run", "--continue", "what was that?"])).stdout).toContain("Outside.");
  screen.enter("/rewind");
  await screen.shows(/1 {2}\d\d:\d\d {2}undone {9}set x to 2\n2 {2}\d\d:\d\d {17}what was that\?/);
  screen.enter("what did we do last?");
  await screen.shows(/Inside\./);
  expect(lastAsked(place)).toContain("user: what was that?\nyou: Outside.\npai: answered; nothing was changed");
});
