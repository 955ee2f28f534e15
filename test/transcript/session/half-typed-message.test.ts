/** A message that is half typed, at the prompt and in the user's own editor. */
import { expect } from "bun:test";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace, type Place } from "../harness.ts";
import { talked } from "../replies.ts";
import { inTerminal, leave, openRaw, openScreen, openSession, ready, type Screen } from "../screen.ts";

/** A session with three rows typed and the cursor in the second. */
async function openDraft(place: Place): Promise<Screen> {
  const screen = openScreen(place, { columns: 80, rows: 24 });
  await screen.shell("stty -a > ../spare/before");
  screen.record(join(place.spare, "bytes"));
  await screen.say(
    `TERM=xterm-kitty sh -c 'echo $$ > ../spare/pid; exec "$PAI"'; echo "ended with $?"; stty -a > ../spare/after`,
    ready,
  );
  screen.press("one", "M-Enter", "two", "M-Enter", "three", "Up");
  await screen.shows(/^pai> one\ntwo\nthree/m);
  return screen;
}

const pidIn = ({ spare }: Place) => Number(readFileSync(join(spare, "pid"), "utf8"));

/** Every mode that was switched on was switched off after that, and the line settings are as before. */
function expectGivenBack({ spare }: Place): void {
  const bytes = readFileSync(join(spare, "bytes"), "utf8");
  for (const [on, off] of [
    ["\x1b[?2004h", "\x1b[?2004l"],
    ["\x1b[>1u", "\x1b[<u"],
  ] as const) {
    expect(bytes.lastIndexOf(on)).toBeGreaterThan(-1);
    expect(bytes.lastIndexOf(off)).toBeGreaterThan(bytes.lastIndexOf(on));
  }
  expect(bytes.lastIndexOf("\x1b[?25l")).toBe(-1);
  expect(readFileSync(join(spare, "after"), "utf8")).toBe(readFileSync(join(spare, "before"), "utf8"));
}

/** Up in the next session brings the draft back, and it is sent as it was typed. */
async function expectKept(place: Place, draft = "one\ntwo\nthree"): Promise<void> {
  const before = place.gemini.requests.length;
  using screen = await openSession(place);
  screen.press("Up", "Enter");
  await place.gemini.arrived(before + 1);
  expect(place.gemini.requests.at(-1)?.body).toContain(`Request: ${draft.replaceAll("\n", "\\n")}`);
}

for (const [signal, code, said] of [
  ["SIGTERM", 143, "pai: ended by SIGTERM"],
  ["SIGHUP", 129, "pai: the terminal was closed"],
] as const) {
  inTerminal(`${signal} gives the terminal back below the draft, ends with ${code}, and Up has the draft`, async () => {
    await using place = openPlace([talked("One.")]);
    using screen = await openDraft(place);
    process.kill(pidIn(place), signal);
    await screen.shows(new RegExp(`^pai> one\ntwo\nthree\n${said}\nended with ${code}$`, "m"));
    await screen.shell("true");
    expectGivenBack(place);
    await expectKept(place);
  });
}

inTerminal("a draft that cannot be kept is said to be lost, and stands on the screen", async () => {
  await using place = openPlace();
  using screen = await openSession(place, `sh -c 'echo $$ > ../spare/pid; exec "$PAI" --ephemeral'`, {
    columns: 80,
    rows: 24,
  });
  screen.press("one");
  await screen.shows(/^pai> one/m);
  process.kill(pidIn(place), "SIGTERM");
  await screen.shows(/^pai> one\nwhat you typed is not kept: copy it from above\npai: ended by SIGTERM/m);
});

inTerminal("a terminal that is closed takes nothing with it: the next session has the draft", async () => {
  await using place = openPlace([talked("One.")]);
  const raw = openRaw(place);
  await raw.sees("pai> ");
  raw.type("one\x1b\rtwo\x1b\rthree");
  await raw.sees("three");
  raw.close();
  await raw.exited;
  await expectKept(place);
});

inTerminal("Ctrl+Z and fg go on in the middle of several rows, with the modes off and on again (R10)", async () => {
  await using place = openPlace([talked("One.")]);
  using screen = openScreen(place, { columns: 80, rows: 24 });
  await screen.shell("stty -a > ../spare/before");
  screen.record(join(place.spare, "bytes"));
  await screen.say('TERM=xterm-kitty "$PAI"', ready);
  screen.press("one", "M-Enter", "two", "M-Enter", "three", "Up");
  await screen.shows(/^pai> one\ntwo\nthree/m);
  screen.press("C-z");
  await screen.shows(/^pai> one\ntwo\nthree\n+.*Stopped/m);
  await screen.shell("stty -a > ../spare/after");
  expectGivenBack(place);
  await screen.say("fg", /^pai> one\ntwo\nthree/m, 2);
  screen.paste(" and\na half");
  await screen.shows(/^two and\na half\nthree/m);
  screen.press("Enter");
  await screen.shows(/One\./);
  expect(place.gemini.requests[0]?.body).toContain("one\\ntwo and\\na half\\nthree");
});

inTerminal("continued in the background after Ctrl+Z it waits for fg; ended there it keeps the draft", async () => {
  await using place = openPlace([talked("One.")]);
  using screen = openScreen(place, { columns: 80, rows: 24 });
  await screen.say("exec bash --norc --noprofile -c 'echo a bash; exec bash --norc --noprofile'", /a bash$/m);
  await screen.say('"$PAI"', ready);
  screen.press("one", "M-Enter", "two", "M-Enter", "three", "Up", "C-z");
  await screen.shows(/Stopped/);
  screen.enter("bg; sleep 0.5");
  await Bun.sleep(700);
  await screen.say("", /Stopped/, 2);
  await screen.say("fg", /^pai> one\ntwo\nthree/m, 2);
  screen.press("X", "BSpace", "C-z");
  await screen.shows(/Stopped/, 3);
  await screen.say("kill %1; sleep 0.5; echo 'what is left:'; jobs; echo done", /^done/m);
  expect(screen.text()).toMatch(/what is left:\n(\[1\]\+\s+(Exit 143|Terminated).*\n)?done/);
  await expectKept(place);
});

const sentIn = ({ gemini }: Place, n: number): string => gemini.requests[n - 1]?.body ?? "";

inTerminal("Ctrl+X Ctrl+E opens the person's editor; what it saved is at the prompt, sent by Enter (R49)", async () => {
  await using place = openPlace([talked("One."), talked("Two.")]);
  const script = join(place.spare, "edit.sh");
  writeFileSync(
    script,
    '#!/bin/sh\nread -r answer </dev/tty\n{ cat "$2"; echo "from $1 $answer"; } > ../spare/new; cp ../spare/new "$2"\n',
  );
  chmodSync(script, 0o755);
  using screen = await openSession(place, `TMPDIR=$PWD/../spare EDITOR='${script} outside' "$PAI"`);
  screen.press("begun", "C-x", "C-e");
  await Bun.sleep(500);
  await screen.say("typed there", /from outside typed there/);
  expect(screen.text().match(/pai> begun/g)).toHaveLength(1);
  screen.press(" and more", "Enter");
  await screen.shows(/One\./);
  expect(sentIn(place, 1)).toContain("begun\\nfrom outside typed there and more");
  expect(readdirSync(place.spare).filter((name) => name.startsWith("pai-message-"))).toEqual([]);
  await leave(place, screen);
});

inTerminal("an editor that fails or is not there leaves the message as it was", async () => {
  await using place = openPlace([talked("One.")]);
  using screen = await openSession(place, `VISUAL=false "$PAI"`);
  screen.press("begun", "C-x", "C-e");
  await screen.shows(/false ended with 1; the message is unchanged/);
  screen.press(" again", "C-x", "x", "Enter");
  await screen.shows(/One\./);
  expect(sentIn(place, 1)).toContain("begun againx");
  await leave(place, screen);
});
