/** The terminal's echo while a run works in a session: off, and given back whenever the run does not have the terminal. */
import { expect } from "bun:test";
import { openPlace } from "../harness.ts";
import { done, planned, talked, write } from "../replies.ts";
import { inTerminal, openScreen, ready, sttyOf } from "../screen.ts";

inTerminal(
  "words typed ahead of a question answer nothing and are at the next prompt; a single word is gone",
  async () => {
    const plan = { ...planned([["WRITE", "a.txt"]]), delayMs: 2500 };
    await using place = openPlace([plan, done(write("a.txt", "a\n"), "Made it."), plan]);
    using screen = openScreen(place, { columns: 40, rows: 30 });
    screen.enter('"$PAI"');
    await screen.shows(ready);
    screen.enter("make a.txt");
    await place.gemini.arrived(1);
    screen.enter("and test it");
    await screen.shows(/or say what to change/);
    expect(place.tree()).toEqual({});
    screen.enter("y");
    await screen.shows(/^undo with[\s\S]*^pai> and test it/m);
    screen.press("C-u");
    screen.enter("again");
    await place.gemini.arrived(3);
    screen.enter("y");
    await screen.shows(/or say what to change/, 2);
    screen.enter("n");
    await screen.shows(/declined[\s\S]*^pai> *$/m);
    screen.enter("/clear");
    // At 40 columns lines break between words.
    await screen.shows(/^cleared: the next task knows nothing of ?\nthe earlier ones/m);
    screen.enter("exit");
    await screen.shows(/^3 calls, .*; go on\nwith: pai resume\n\S+\n\$ /m);
  },
);

inTerminal(
  "a run that is stopped gives the echo back, to a shell that does not see to it; fg takes it away (R10)",
  async () => {
    await using place = openPlace([{ ...talked("Forty-two."), delayMs: 4000 }]);
    using screen = openScreen(place, { columns: 80, rows: 24 });
    await screen.shell("stty -a > ../spare/before");
    screen.enter('"$PAI"');
    await screen.shows(ready);
    screen.enter("what is it?");
    await place.gemini.arrived(1);
    screen.press("C-z");
    await screen.shows(/Stopped/);
    await screen.shell("stty -a > ../spare/after");
    expect(sttyOf(place, "after")).toBe(sttyOf(place, "before"));
    screen.enter("fg");
    await screen.shows(/^"\$\{PAI\}"$/m);
    await Bun.sleep(300);
    screen.press("l", "a", "t", "e", "r");
    await Bun.sleep(300);
    expect(screen.text()).toMatch(/^ {2}pai> later$/m);
    await screen.shows(/Forty-two\.[\s\S]*^pai> later/m);
    screen.press("C-u");
    screen.enter("exit");
    await screen.shows(/^pai> exit ?\n1 call, .*; go on with: pai resume \S+\n\$ /m);
    await screen.shell("stty -a > ../spare/after");
    expect(sttyOf(place, "after")).toBe(sttyOf(place, "before"));
  },
);

inTerminal("lines typed ahead of a stop are at the next prompt, and no task of them is begun", async () => {
  await using place = openPlace([{ ...talked("late"), delayMs: 20_000 }, talked("never asked")]);
  using screen = openScreen(place, { columns: 80, rows: 24 });
  screen.enter('"$PAI"');
  await screen.shows(ready);
  screen.enter("take your time");
  await place.gemini.arrived(1);
  screen.enter("then the second");
  screen.enter("and the third");
  await Bun.sleep(300);
  screen.press("Escape");
  await screen.shows(/interrupted, nothing changed[\s\S]*^pai> then the second and the third/m);
  await Bun.sleep(500);
  expect(place.gemini.requests).toHaveLength(1);
});

inTerminal(
  "lines typed while a task works are a queue: it is shown, can be changed, and goes out line by line",
  async () => {
    await using place = openPlace([{ ...talked("First."), delayMs: 3000 }, talked("Second."), talked("Third.")]);
    using screen = openScreen(place, { columns: 80, rows: 40 });
    screen.enter('"$PAI"');
    await screen.shows(ready);
    screen.enter("begin now");
    await place.gemini.arrived(1);
    screen.enter("then tset it");
    screen.enter("and thank me");
    await screen.shows(/^ {2}next: then tset it\n {2}next: and thank me$/m);
    screen.press("Up", "BSpace", "BSpace", "Up", "C-u");
    screen.enter("then test it");
    screen.enter("and thank us");
    await screen.shows(/^ {2}next: then test it\n {2}next: and thank us$/m);
    await screen.shows(/First\.[\s\S]*^pai> then test it\n[\s\S]*Second\.[\s\S]*^pai> and thank us\n[\s\S]*Third\./m);
    expect(place.gemini.requests[1]?.body).toContain("Request: then test it");
  },
);
