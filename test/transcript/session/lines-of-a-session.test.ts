/** What a session in a real terminal says once, and how its lists stand. */
import { expect } from "bun:test";
import { openPlace, type Place } from "../harness.ts";
import { called, done, planned, says, talked } from "../replies.ts";
import { inTerminal, openScreen, ready, type Screen } from "../screen.ts";

function open(place: Place, command = '"$PAI"'): Screen {
  const screen = openScreen(place, { columns: 80, rows: 60 });
  screen.enter(command);
  return screen;
}

inTerminal("a session says once how commands are held", async () => {
  await using place = openPlace([talked("Seen."), talked("Seen again.")]);
  using screen = open(place, '"$PAI" --check true');
  await screen.shows(ready);
  screen.enter("what is it?");
  await screen.shows(/^1 call/m);
  await screen.shows(ready, 2);
  expect(screen.text().match(/· sandbox/g)).toHaveLength(1);
  screen.enter("and now?");
  await screen.shows(/^1 call/m, 2);
  expect(screen.text().match(/· sandbox/g)).toHaveLength(1);
});

inTerminal("what a slash command chose is in force, and /config says so; its own changes count later", async () => {
  await using place = openPlace();
  using screen = open(place);
  await screen.shows(ready);
  screen.enter("/mode");
  await screen.shows(/^mode: auto, looks where it must[\s\S]*^ {2}single-shot {2}one plan for your yes/m);
  screen.enter("/config mode");
  await screen.shows(
    /^auto\nmode: the default.*\nfor: how pai goes about a task\nchange: \/config mode VALUE \(one of single-shot/m,
  );
  screen.enter("/mode tool-loop");
  screen.enter("/effort high");
  screen.enter("/config");
  await screen.shows(/^effort +high +\(\/effort\)\nmode +tool-loop +\(\/mode\)$/m);
  screen.enter("/config mode eight-step");
  await screen.shows(/^counts from the next session on; in this one: \/mode eight-step$/m);
  screen.enter("/config mode");
  await screen.shows(/^tool-loop\nmode: set by \/mode$/m);
  screen.enter("/config checks python3 -m unittest -q");
  await screen.shows(/^checks = \["python3 -m unittest -q"\] in$/m);
  screen.enter('/config checks ["make test", "make lint"]');
  await screen.shows(/^checks = \["make test", ?"make lint"\] in$/m);
});

inTerminal("the begin of one command is that command, of several names them; what is none has a way", async () => {
  await using place = openPlace();
  using screen = open(place);
  await screen.shows(ready);
  screen.enter("/und");
  await screen.shows(/^\/undo\npai: nothing to undo$/m);
  screen.enter("/re");
  await screen.shows(/one of \/redo, \/rewind, \/resume, \/remember\?/);
  screen.enter("/history");
  await screen.shows(/here: \/diff, \/undo, \/rewind; in a shell: pai history/);
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
    screen.enter(turn);
    await screen.shows(ready, at + 2);
  }
  screen.enter("/rewind");
  await screen.shows(/^ 9 {2}\d\d:\d\d {2,}turn 9\n10 {2}\d\d:\d\d {2,}turn 10$/m);
  screen.enter("9");
  await screen.shows(/files and conversation went back to before turn 9/);
  expect(place.gemini.requests).toHaveLength(10);
});

inTerminal(
  "a command shows its last lines while it runs, then its beginning and end, and /output all of it",
  async () => {
    const loud = "seq 1 400; sleep 8; seq 401 420";
    await using place = openPlace([planned([["RUN", loud]]), done(`RUN::${loud}\n`)]);
    using screen = open(place, '"$PAI" --mode single-shot');
    await screen.shows(ready);
    screen.enter("count up");
    await screen.shows(/y, n/);
    screen.enter("y");
    await screen.shows(/│ 396\n.*│ 397\n.*│ 398\n.*│ 399\n.*│ 400$/m);
    await screen.shows(/^ {2}10\n {2}… 380 more lines \(\/output shows all\)\n {2}391$/m);
    await screen.shows(ready, 2);
    expect(screen.text()).not.toMatch(/│ 400/);
    screen.enter("/output");
    await screen.shows(/^200\n201$/m);
  },
);

inTerminal("a look is one line, /output shows all of one, and all of a command of the user's own", async () => {
  const rows = Array.from({ length: 60 }, (_, at) => `row ${at}`).join("\n");
  const looks = called(["read", { path: "big.txt" }], ["grep", { pattern: "row 7" }]);
  const wide = `row 60  ${"of many words ".repeat(6)}`.trimEnd();
  await using place = openPlace([looks, says("It has rows."), says("So it is.")], { "big.txt": `${rows}\n${wide}\n` });
  using screen = open(place, '"$PAI" --mode tool-loop');
  await screen.shows(ready);
  screen.enter("what is in it?");
  await screen.shows(/^✓ looked at big\.txt, 61 lines\n✓ searched row 7: big\.txt:8:row 7\s+It has rows\.$/m);
  expect(screen.text()).not.toContain("row 30");
  screen.enter("/output 1");
  await screen.shows(/^READ big\.txt\n[\s\S]*\brow 30\n[\s\S]*\brow 59\n.*row 60 {2}.* words\n +of many words/m);
  screen.enter("/output");
  await screen.shows(/^the last of 2: \/output NUMBER shows another$/m);
  screen.enter("/output 3");
  await screen.shows(/no output 3\n {2}there are 2/);
  screen.enter("is that all?");
  await screen.shows(/^So it is\.$/m);
  screen.enter("/output 2");
  await screen.shows(/^SEARCH row 7$/m);
  screen.enter("!printf 'a\\033[31mred\\rb'");
  await screen.shows(/^a\\x1b\[31mred\\x0db$/m);
  screen.enter("/output");
  await screen.shows(/^\$ printf [^\n]*\na\\x1b\[31mred\\x0db$/m);
});

inTerminal("going back to a turn that left a next step says what a yes carries on with", async () => {
  const work = done("WRITE::a.txt::EOT\na\nEND::EOT\n", "Done.", ["Add a test for it"]);
  await using place = openPlace([planned([["WRITE", "a.txt"]]), work, talked("Hello.")]);
  using screen = open(place, '"$PAI" --mode single-shot');
  await screen.shows(ready);
  screen.enter("make a");
  await screen.shows(/y, n/);
  screen.enter("y");
  await screen.shows(ready, 2);
  screen.enter("hello");
  await screen.shows(ready, 3);
  screen.enter("/rewind 2 conversation");
  await screen.shows(/went back to before turn 2/);
  await screen.shows(/y carries on with: Add a test for it/);
});

inTerminal(
  "a message with a file that cannot be shown comes back to be edited, and the way to show it is named",
  async () => {
    await using place = openPlace([talked("Hello.")], { "secret.env": "KEY=1\n", "a.txt": "a\n" });
    using screen = open(place);
    await screen.shows(ready);
    screen.enter("read @secret.env for me");
    await screen.shows(/only pai started with --allow secret\.env opens it[\s\S]*^pai> read @secret\.env for me$/m);
    screen.press("C-u");
    screen.enter("read @none.txt for me");
    await screen.shows(/no such file: none\.txt[\s\S]*^pai> read @none\.txt for me$/m);
    screen.press("C-u");
    screen.enter("read @a.txt for me");
    await screen.shows(/Hello\./);
  },
);
