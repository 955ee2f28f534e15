/** The terminal's echo while a run works in a session: off, and given back whenever the run does not have the terminal. */
import { expect } from "bun:test";
import { needs, otherUser } from "../../needs.ts";
import { openPlace } from "../harness.ts";
import { done, planned, talked, write } from "../replies.ts";
import { inTerminal, openScreen, openSession, ready, sttyOf } from "../screen.ts";

inTerminal(
  "what is typed ahead of a question answers nothing and stays queued; a bare yes is gone, and told",
  async () => {
    const plan = { ...planned(["WRITE a.txt"]), delayMs: 2500 };
    const answers = [plan, done(write("a.txt", "a\n"), "Made it."), talked("Tested."), talked("Typed."), plan];
    await using place = openPlace(answers);
    using screen = await openSession(place, '"$PAI"', { columns: 40, rows: 50 });
    screen.enter("make a.txt");
    await place.gemini.arrived(1);
    screen.press("and test it", "Enter", "y", "Enter", "types", "Enter", "half");
    await screen.shows(/typed before this question, so no answer\s+to it: y\n[\s\S]*or say what to change/);
    expect(screen.text()).toMatch(/^then: and test it\nthen: types$/m);
    expect(place.tree()).toEqual({});
    await screen.say(
      "y",
      /^undo with[\s\S]*^pai> and test it\n[\s\S]*Tested\.[\s\S]*^pai> types\n[\s\S]*Typed\.[\s\S]*^pai> half/m,
    );
    screen.press("C-u", "again", "Enter");
    await place.gemini.arrived(5);
    await screen.say("y", /or say what to change/, 2);
    await screen.say("n", /declined[\s\S]*^pai> *$/m);
    screen.enter("/clear");
    // At 40 columns lines break between words.
    await screen.shows(/^cleared: the next task knows nothing of ?\nthe earlier ones/m);
    await screen.say("exit", /^5 calls, .*; go on\nwith: pai resume --list\nended with 0$/m);
  },
);

needs(otherUser, "tmux").test("a user who came by su has a session; Esc stops its work", async () => {
  await using place = openPlace([{ ...talked("Hello."), delayMs: 20_000 }]);
  using screen = openScreen(place, { columns: 80, rows: 30 });
  await screen.say(
    'chmod 755 .. . && HOME=/tmp/none setpriv --reuid=65534 --regid=65534 --clear-groups "$PAI" --ephemeral',
    ready,
  );
  screen.enter("hello there");
  await place.gemini.arrived(1);
  screen.press("Escape");
  await screen.shows(/interrupted[\s\S]*^pai>/m);
});

inTerminal("a run that is stopped gives the echo back to a shell that does not; fg takes it away (R10)", async () => {
  await using place = openPlace([{ ...talked("Forty-two."), delayMs: 4000 }]);
  using screen = openScreen(place, { columns: 80, rows: 24 });
  await screen.shell("stty -a > ../spare/before");
  await screen.say('"$PAI"', ready);
  screen.enter("what is it?");
  await place.gemini.arrived(1);
  screen.press("C-z");
  await screen.shows(/Stopped/);
  await screen.shell("stty -a > ../spare/after");
  expect(sttyOf(place, "after")).toBe(sttyOf(place, "before"));
  await screen.say("fg", /^"\$\{PAI\}"$/m);
  await Bun.sleep(300);
  screen.press("l", "a", "t", "e", "r");
  await screen.shows(/^ {2}pai> later$/m);
  await screen.shows(/Forty-two\.[\s\S]*^pai> later/m);
  screen.press("C-u");
  await screen.say("exit", /^pai> exit ?\n1 call, .*; go on with: pai resume \S+\n\$ /m);
  await screen.shell("stty -a > ../spare/after");
  expect(sttyOf(place, "after")).toBe(sttyOf(place, "before"));
});

/** Begins a task that takes its time, queues two lines behind it, and stops it. */
async function stopWithQueue(screen: ReturnType<typeof openScreen>, place: ReturnType<typeof openPlace>) {
  await screen.say('"$PAI"', ready);
  screen.enter("take your time");
  await place.gemini.arrived(1);
  screen.press("then the second", "Enter", "and the third", "Enter");
  await screen.shows(/next: and the third$/m);
  screen.press("Escape");
}

inTerminal("lines typed ahead of a stop come to the prompt one by one, none is sent without its Enter", async () => {
  await using place = openPlace([{ ...talked("late"), delayMs: 20_000 }, talked("Second.")]);
  using screen = openScreen(place, { columns: 80, rows: 24 });
  await stopWithQueue(screen, place);
  await screen.shows(/interrupted, nothing changed[\s\S]*^then: and the third\npai> then the second *$/m);
  expect(place.gemini.requests).toHaveLength(1);
  screen.press("Enter");
  await screen.shows(/Second\.[\s\S]*^pai> and the third *$/m);
  expect(place.gemini.requests).toHaveLength(2);
});

inTerminal("of a long line that is typed while a task works the end is seen", async () => {
  await using place = openPlace([{ ...talked("First."), delayMs: 20_000 }]);
  using screen = await openSession(place, '"$PAI"', { columns: 60, rows: 20 });
  screen.enter("begin now");
  await place.gemini.arrived(1);
  screen.press("please also make sure that the help text names the new flag of it");
  await screen.shows(/^ {2}pai> …[a-z ]+ names the new flag of it$/m);
});

inTerminal("a bare yes or no typed while a task works is not sent, and pai says so", async () => {
  await using place = openPlace([{ ...talked("First."), delayMs: 3000 }, talked("Second.")]);
  using screen = await openSession(place, '"$PAI"', { columns: 80, rows: 40 });
  screen.enter("begin now");
  await place.gemini.arrived(1);
  screen.press("n", "Enter", "then test it", "Enter", "y", "Enter");
  await screen.shows(/First\.[\s\S]*typed before the turn ended, so not sent: n, y\n[\s\S]*^pai> then test it/m);
  await screen.shows(/Second\./);
  expect(place.gemini.requests).toHaveLength(2);
});

inTerminal("lines typed while a task works are a queue: shown, to be changed, and sent line by line", async () => {
  await using place = openPlace([{ ...talked("First."), delayMs: 3000 }, talked("Second."), talked("Third.")]);
  using screen = await openSession(place, '"$PAI"', { columns: 80, rows: 40 });
  screen.enter("begin now");
  await place.gemini.arrived(1);
  screen.press("then tset it", "Enter", "and thank me", "Enter");
  await screen.shows(/^ {2}next: then tset it\n {2}next: and thank me$/m);
  screen.press("Up", "BSpace", "Up", "C-u", "Up", "C-u", "then test it", "Enter", "and thank us", "Enter");
  await screen.shows(/^ {2}next: then test it\n {2}next: and thank us$/m);
  await screen.shows(/First\.[\s\S]*^pai> then test it\n[\s\S]*Second\.[\s\S]*^pai> and thank us\n[\s\S]*Third\./m);
  expect(place.gemini.requests[1]?.body).toContain("Request: then test it");
});
