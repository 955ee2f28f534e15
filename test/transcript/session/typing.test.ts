/** Typing in a real terminal: keys, pastes, history, sizes, stops; and what the message then holds. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { StampedEvent } from "../../../src/core/event.ts";
import { failedOutcome, type Outcome } from "../../../src/core/outcome.ts";
import { openSessions } from "../../../src/store/sessions.ts";
import { expectPrompt } from "../../core/cpu-time.ts";
import { openPlace, type Place } from "../harness.ts";
import { done, planned, talked, write } from "../replies.ts";
import { inTerminal, leave, openRaw, openScreen, openSession, ready } from "../screen.ts";

/** So many tasks with their ends, as a session keeps them. */
const turnsOf = (root: string, count: number): readonly StampedEvent[] =>
  Array.from({ length: count }, (_, n): readonly StampedEvent[] => {
    const stamp = { run: `r${n}`, seq: 1, at: "2026-01-01T00:00:00Z" };
    const failure = { code: "failed", message: "", hint: null, retry_after: null } as const;
    const outcome: Outcome = { ...failedOutcome("run", failure), status: "answered", text: "an answer ".repeat(50) };
    const task = `turn ${n} of many`;
    return [
      { type: "run.started", v: 1, pai: "0", task, mode: "single-shot", model: "m", root, ...stamp },
      { type: "run.finished", outcome, ...stamp },
    ];
  }).flat();

const sentIn = ({ gemini }: Place, n: number): string => gemini.requests[n - 1]?.body ?? "";

inTerminal("a paste of more than ten lines is one mark, which Backspace takes away, and goes whole", async () => {
  await using place = openPlace([talked("Read it.")]);
  using screen = await openSession(place);
  screen.press("see: ");
  screen.paste(Array.from({ length: 41 }, (_, at) => `row ${at}`).join("\n"));
  await screen.shows(/^pai> see: \[41 lines pasted\]$/m);
  screen.press("x", "BSpace", "BSpace");
  await screen.shows(/^pai> see: *$/m);
  screen.paste(Array.from({ length: 41 }, (_, at) => `row ${at}`).join("\n"));
  await screen.shows(/^pai> see: \[41 lines pasted\]$/m);
  screen.press("Enter");
  await screen.shows(/Read it\./);
  expect(sentIn(place, 1)).toContain("see: row 0\\nrow 1\\n");
  expect(sentIn(place, 1)).toContain("row 39\\nrow 40");
  await leave(place, screen);
});

inTerminal("Tab and the menu complete slash commands and paths behind @; the file goes with the message", async () => {
  await using place = openPlace([talked("It says hi.")], {
    "notes.txt": "hi there\n",
    "nothing.md": "no\n",
    ".gitignore": "notes.txt\n",
  });
  using screen = await openSession(place);
  screen.press("/he", "Tab", "Enter");
  await screen.shows(/!command/);
  screen.press("what does @no");
  await screen.shows(/^ {2}notes\.txt\n {2}nothing\.md$/m);
  screen.press("Down", "Down");
  await screen.shows(/^> nothing\.md$/m);
  screen.press("Up", "Enter", "say?", "Enter");
  await screen.shows(/It says hi\./);
  expect(sentIn(place, 1)).toContain("hi there");
  expect(sentIn(place, 1)).toContain("what does @notes.txt say?");
  await screen.say("and @.env", /only pai started with --allow \.env opens it[\s\S]*^pai> and @\.env/m);
  expect(place.gemini.requests).toHaveLength(1);
  screen.press("C-u");
  await leave(place, screen);
});

inTerminal("a file outside the project is shown after one yes a session, by ../ and by its absolute path", async () => {
  await using place = openPlace([talked("It says out."), talked("Still out.")]);
  writeFileSync(join(place.spare, "out.txt"), "far away\n");
  using screen = await openSession(place);
  await screen.say("what is @../spare/out.txt", /outside the project/);
  screen.press("n");
  await screen.shows(/is not shown,?\s+and nothing was sent/);
  await screen.say("what is @../spare/out.txt", /outside the project/, 2);
  screen.press("y");
  await screen.shows(/It says out\./);
  await screen.say(`and @${place.spare}/out.txt again`, /Still out\./);
  expect(screen.text().match(/outside the project\?/g)).toHaveLength(2);
  expect([place.gemini.requests.length, sentIn(place, 1).includes("far away")]).toEqual([2, true]);
  await leave(place, screen);
});

inTerminal("words at a plan that name a file are asked about, and cost no call where it cannot be shown", async () => {
  await using place = openPlace([planned(["WRITE a.txt"]), planned(["WRITE b.txt"])]);
  writeFileSync(join(place.spare, "out.txt"), "far away\n");
  using screen = await openSession(place, '"$PAI" --plan-first');
  await screen.say("make a file", /or say what to change/);
  await screen.say("as in @src/nosuch.py", /no such file: src\/nosuch\.py[\s\S]*or say what to change/);
  await screen.say("as in @../spare/out.txt", /outside the project\?/);
  screen.press("n");
  await screen.shows(/is not shown,\s+and\s+nothing was sent[\s\S]*or say what to change/);
  expect(place.gemini.requests).toHaveLength(1);
  await screen.say("as in @../spare/out.txt", /outside the project\?[\s\S]*outside the project\?/);
  screen.press("y");
  await screen.shows(/WRITE\s+b\.txt/);
  expect([place.gemini.requests.length, sentIn(place, 2).includes("far away")]).toEqual([2, true]);
  await screen.say("no", ready, 2);
  await leave(place, screen);
});

inTerminal("--plain writes no escape sequence while typing, waiting, answering and showing (R31)", async () => {
  const plan = { ...planned(["WRITE a.txt"]), delayMs: 800 };
  await using place = openPlace([plan, done(write("a.txt", "a\n"), "**Made** it.")]);
  using screen = openScreen(place, { columns: 200, rows: 50 });
  await screen.shell("true");
  screen.record(join(place.spare, "bytes"));
  await screen.say('"$PAI" --plain', ready);
  screen.press("make x", "BSpace", "a", "Enter");
  await screen.shows(/or say what to change/);
  await screen.say("y", /Made/);
  await screen.say("exit", /^\$ $/m, 1);
  expect(place.tree()).toEqual({ "a.txt": "a\n" });
  expect(readFileSync(join(place.spare, "bytes"), "utf8")).not.toContain("\x1b");
});

inTerminal("!command shows its output and sends it with the next message; what it changed can be undone", async () => {
  await using place = openPlace([talked("Forty-two."), talked("Again.")]);
  using screen = await openSession(place);
  await screen.say(
    "!echo the answer is $((6 * 7)); echo x > made.txt; exit 3",
    /the answer is 42[\s\S]*1 path changed[\s\S]*exit 3/,
  );
  await screen.say("!echo and more", /goes with your next message/, 2);
  await screen.say("what did it say?", /Forty-two\./);
  expect(sentIn(place, 1)).toMatch(/the answer is 42[\s\S]*and more/);
  await screen.say("!echo not this", /goes with your next message/, 3);
  await screen.say("!", /not sent/);
  await screen.say("and again", /Again\./);
  expect(sentIn(place, 2)).not.toContain("not this");
  await screen.say("/undo", /Take back run/);
  await screen.say("y", /undone/);
  expect(place.tree()).toEqual({});
  await leave(place, screen);
});

inTerminal("Escape stops a task and keeps what was typed; only Ctrl+C twice at an empty prompt leaves", async () => {
  await using place = openPlace([{ ...talked("late"), delayMs: 20_000 }]);
  using screen = await openSession(place);
  screen.enter("take your time");
  await place.gemini.arrived(1);
  await screen.shows(/Esc stops/);
  screen.press("n", "e", "x", "t", "Up");
  await Bun.sleep(300);
  screen.press("Escape");
  await screen.shows(/interrupted, nothing changed[\s\S]*^pai> /m);
  screen.press("C-u");
  await Bun.sleep(1600);
  screen.press("C-c");
  await screen.shows(/press Ctrl\+C again to leave/);
  screen.press("a", "BSpace", "C-c");
  await screen.shows(/press Ctrl\+C again to leave/, 2);
  // Both at once: the first may come too late after the one above.
  screen.press("C-c", "C-c");
  await screen.shows(/ended with 130/);
});

test.concurrent("a key is on the screen within 16 ms in a session of 300 turns", async () => {
  await using place = openPlace([talked("Hello.")]);
  // The first session makes the folder of the project's state.
  const first = openRaw(place);
  await first.sees("pai> ");
  first.type("exit\r");
  await first.exited;
  const state = join(place.home, ".local/state/pai-code");
  const [own = ""] = readdirSync(state, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith("input.jsonl"),
  );
  const now = () => new Date();
  const open = openSessions(join(state, dirname(own)), place.root).open(null, now, () => {});
  for (const event of turnsOf(place.root, 300)) open.sink(event);
  open.close();
  const raw = openRaw(place, ["resume"]);
  await raw.sees("turn 299 of many");
  await raw.sees("pai> ");
  await Bun.sleep(300);
  await expectPrompt(16, async () => {
    const seen = raw.shown().length;
    const typed = performance.now();
    raw.type("x");
    for (;;) {
      if (raw.shown().length > seen) return performance.now() - typed;
      await Bun.sleep(0);
    }
  });
  raw.close();
});

test.concurrent("Ctrl+C in a run acts at once: the answer is there within 100 ms (R09)", async () => {
  await expectPrompt(100, async () => {
    await using place = openPlace([{ ...talked("late"), delayMs: 20_000 }]);
    const raw = openRaw(place, ["run", "take your time"]);
    await place.gemini.arrived(1);
    const pressed = performance.now();
    raw.type("\x03");
    const answered = await raw.sees("interrupted");
    expect(await raw.exited).toBe(130);
    return answered - pressed;
  });
});
