/** What a session in a real terminal says once, and how its lists stand. */
import { expect } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace, type Place } from "../harness.ts";
import { called, done, planned, says, talked } from "../replies.ts";
import { inTerminal, lastAsked, openScreen, ready, type Screen } from "../screen.ts";

function open(place: Place, command = '"$PAI"'): Screen {
  const screen = openScreen(place, { columns: 80, rows: 60 });
  screen.enter(command);
  return screen;
}

inTerminal("a session says once how commands are held", async () => {
  await using place = openPlace([talked("Seen."), talked("Seen again.")]);
  using screen = open(place, '"$PAI" --check true');
  await screen.shows(ready);
  await screen.say("what is it?", /^1 call/m);
  await screen.shows(ready, 2);
  expect(screen.text().match(/· sandbox/g)).toHaveLength(1);
  await screen.say("and now?", /^1 call/m, 2);
  expect(screen.text().match(/· sandbox/g)).toHaveLength(1);
});

inTerminal("what a slash command chose is in force, and /config says so; its own changes count later", async () => {
  await using place = openPlace();
  using screen = open(place);
  await screen.shows(ready);
  await screen.say("/mode", /^mode: auto, looks where it must[\s\S]*^ {2}single-shot {2}one plan for your yes/m);
  await screen.say(
    "/config mode",
    /^auto\nmode: the default.*\nfor: how pai goes about a task\nchange: \/config mode VALUE \(one of single-shot/m,
  );
  screen.enter("/mode tool-loop");
  screen.enter("/effort high");
  await screen.say("/config", /^effort +high +\(\/effort\)\nmode +tool-loop +\(\/mode\)$/m);
  await screen.say("/config mode eight-step", /^counts from the next session on; in this one: \/mode eight-step$/m);
  await screen.say("/config mode", /^tool-loop\nmode: set by \/mode$/m);
  await screen.say("/config checks python3 -m unittest -q", /^checks = \["python3 -m unittest -q"\] in$/m);
  await screen.say('/config checks ["make test", "make lint"]', /^checks = \["make test", ?"make lint"\] in$/m);
});

inTerminal("what is no command has a near one, or a way", async () => {
  await using place = openPlace();
  using screen = open(place);
  await screen.shows(ready);
  await screen.say("/und", /did you mean \/undo\?/);
  await screen.say("/history", /here: \/diff, \/undo, \/rewind; in a shell: pai history/);
});

inTerminal("that a model is small is said once in a home", async () => {
  await using place = openPlace();
  for (const isSaid of [true, false]) {
    using screen = open(place);
    await screen.shows(ready);
    expect(screen.text().includes("this is a small model")).toBe(isSaid);
  }
});

inTerminal("the numbers of the turns stand below each other", async () => {
  const turns = Array.from({ length: 10 }, (_, at) => `turn ${at + 1}`);
  await using place = openPlace(turns.map((turn) => talked(`Said ${turn}.`)));
  using screen = open(place);
  await screen.shows(ready);
  for (const [at, turn] of turns.entries()) {
    await screen.say(turn, ready, at + 2);
  }
  await screen.say("/rewind", /^ 9 {2}\d\d:\d\d {2,}turn 9\n10 {2}\d\d:\d\d {2,}turn 10$/m);
  await screen.say("9", /files and conversation went back to before turn 9/);
  expect(place.gemini.requests).toHaveLength(10);
});

inTerminal("a command shows its last lines while it runs, then its beginning and end; /output shows all", async () => {
  const loud = "seq 1 400; until [ -e ../spare/go ]; do sleep 0.1; done; seq 401 420";
  await using place = openPlace([planned([`RUN ${loud}`]), done(`RUN::${loud}\n`)]);
  using screen = open(place, '"$PAI" --mode single-shot --sandbox off');
  await screen.shows(ready);
  await screen.say("count up", /y, n/);
  await screen.say("y", /│ 396\n.*│ 397\n.*│ 398\n.*│ 399\n.*│ 400$/m);
  writeFileSync(join(place.spare, "go"), "");
  await screen.shows(/^ {2}10\n {2}… 380 more lines \(\/output shows all\)\n {2}391$/m);
  await screen.shows(ready, 2);
  expect(screen.text()).not.toMatch(/│ 400/);
  await screen.say("/output", /^200\n201$/m);
});

inTerminal("a look is one line, /output shows all of one, and all of a command of the user's own", async () => {
  const rows = Array.from({ length: 60 }, (_, at) => `row ${at}`).join("\n");
  const looks = called(["read", { path: "big.txt" }], ["grep", { pattern: "row 7" }]);
  const wide = `row 60  ${"of many words ".repeat(6)}`.trimEnd();
  await using place = openPlace([looks, says("It has rows."), says("So it is.")], { "big.txt": `${rows}\n${wide}\n` });
  using screen = open(place, '"$PAI" --mode tool-loop');
  await screen.shows(ready);
  await screen.say(
    "what is in it?",
    /^✓ looked at big\.txt, 61 lines\n✓ searched row 7: big\.txt:8:row 7\s+It has rows\.$/m,
  );
  expect(screen.text()).not.toContain("row 30");
  await screen.say(
    "/output 1",
    /^READ big\.txt\n[\s\S]*\brow 30\n[\s\S]*\brow 59\n.*row 60 {2}.* words\n +of many words/m,
  );
  await screen.say("/output", /^the last of 2: \/output NUMBER shows another$/m);
  await screen.say("/output 3", /no output 3\n {2}there are 2/);
  await screen.say("is that all?", /^So it is\.$/m);
  await screen.say("/output 2", /^SEARCH row 7$/m);
  await screen.say("!printf 'a\\033[31mred\\rb'", /^a\\x1b\[31mred\\x0db$/m);
  await screen.say("/output", /^\$ printf [^\n]*\na\\x1b\[31mred\\x0db$/m);
});

inTerminal("going back says what a yes carries on with, and the next request which files were left", async () => {
  const work = done("WRITE::a.txt::EOT\na\nEND::EOT\n", "Done.", ["Add a test for it"]);
  await using place = openPlace([planned(["WRITE a.txt"]), work, talked("Hello."), talked("Nothing.")]);
  using screen = open(place, '"$PAI" --mode single-shot');
  await screen.shows(ready);
  await screen.say("make a", /y, n/);
  await screen.say("y", ready, 2);
  await screen.say("hello", ready, 3);
  await screen.say("/rewind 2 conversation", /went back to before turn 2/);
  await screen.shows(/y carries on with: Add a test for it/);
  rmSync(join(place.root, "a.txt"));
  await screen.say("/rewind 1 conversation", /went back to before turn 1/);
  await screen.say("what is there?", /Nothing\./);
  const told = "took the conversation back to here; files that you changed later are left as they are: a.txt";
  expect(lastAsked(place)).toContain(told);
});

inTerminal("going back takes back, too, what the end of a run had left to somebody else", async () => {
  const work = done("MODIFY::a.txt::EOT\n<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE\nEND::EOT\n", "Done.");
  await using place = openPlace([planned(["MODIFY a.txt"]), work, done("", "Red.")], { "a.txt": "one\n" });
  using screen = open(place, '"$PAI" --mode single-shot --check false');
  await screen.shows(ready);
  await screen.say("make it a number", /y, n/);
  await screen.say("y", /keep\? y or n/);
  writeFileSync(join(place.root, "a.txt"), "1\ntwo\n");
  await screen.say("n", ready, 2);
  writeFileSync(join(place.root, "a.txt"), "1\n");
  await screen.say("/rewind 1 code", /Take back 1 run: a\.txt/);
  await screen.say("y", /files went back to before turn 1/);
  expect(place.read("a.txt")).toBe("one\n");
});
