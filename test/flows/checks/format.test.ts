/** The user's formatters: when they run, on what, and whose their changes are. */
import { expect, test } from "bun:test";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { call, calls, playLoop, resultsOf } from "../loop.ts";
import { finish, modify, plan, schedule, verdict } from "../plans.ts";
import { play } from "../scripted.ts";
import { openTurns } from "../turns.ts";

const files = { "a.txt": "one\n", "b.txt": "b\n" };
const lines = [plan({ steps: ["MODIFY a.txt"] }), modify("a.txt", ["one\n", "two  \n"]) + finish("Done.")];
const trim = "sed -i 's/ *$//' {}";

test("a formatter runs on each changed file before the checks, and what it changes is the run's", async () => {
  const checks = ["! grep -q ' $' a.txt"];
  const ran = await play({ files, lines, options: { formats: [trim], checks } });
  expect([ran.outcome.status, ran.files["a.txt"]]).toEqual(["verified", "two\n"]);
  expect(ran.outcome.changes).toMatchObject([{ path: "a.txt", added: 1, deleted: 1 }]);
  expect(ran.eventsOf("notice").find(({ code }) => code === "formatted")?.text).toBe(`formatted by ${trim}: a.txt`);
});

test("without checks it runs too; what it changes in other files is taken back", async () => {
  const ran = await play({ files, lines, options: { formats: ["sed -i 's/ *$/!/' *.txt; touch new.txt"] } });
  expect([ran.outcome.code, ran.files]).toEqual([0, { "a.txt": "two!\n", "b.txt": "b\n" }]);
  expect(ran.eventsOf("notice").map(({ text }) => text)).toContainEqual(
    expect.stringContaining("what it changed elsewhere was taken back: b.txt"),
  );
});

test("one that fails is told, and the run goes on; a failing check takes its work back, too", async () => {
  const told = await play({ files, lines, options: { formats: ["echo no such thing; exit 3"] } });
  expect(told.outcome.code).toBe(0);
  expect(told.eventsOf("notice").map(({ text }) => text)).toContain("echo no such thing; exit 3: exit 3 no such thing");
  const red = await play({
    files,
    lines: [...lines, finish("x")],
    options: { formats: [trim], checks: ["grep -q one a.txt"] },
  });
  expect([red.outcome.code, red.files]).toEqual([9, files]);
});

const formatted = `formatted by ${trim}: a.txt`;
/** How often a text names the formatter's work. */
const told = (text: unknown) => JSON.stringify(text).split(JSON.stringify(formatted).slice(1, -1)).length - 1;

test("tool-loop's model is told of the formatter once, behind the call that ran it", async () => {
  const edit = (from: string, to: string) => call("edit", { path: "a.txt", old_str: from, new_str: to });
  const check = () => call("check", {});
  const lines = [calls(edit("one", "two  "), check()), calls(edit("two", "three"), check()), "Done."];
  const ran = await playLoop(lines, { files, options: { formats: [trim], checks: ["true"], baseline: false } });
  expect(ran.files["a.txt"]).toBe("three\n");
  expect(resultsOf(ran, 2)[1]?.text).toBe(`passed: true\n\n${formatted}`);
  expect(told(ran.requests[2]?.messages)).toBe(1);
});

test("where the check behind a formatter sends the model back to work, the same message tells what was formatted", async () => {
  const edit = call("edit", { path: "a.txt", old_str: "one", new_str: "two  " });
  const options = { formats: [trim], checks: ["grep -q one a.txt"], baseline: false };
  const ran = await playLoop([calls(edit), "Done.", "Done.", "Done."], { files, options });
  expect(told(ran.requests[2]?.messages.at(-1))).toBe(1);
});

test("of a formatter that ran behind the last words the next turn of the session is told", async () => {
  const turns = openTurns(files);
  const edit = call("edit", { path: "a.txt", old_str: "one", new_str: "two  " });
  const options = { mode: "tool-loop", formats: [trim] } as const;
  await turns.say("make it two", { flow: toolLoop, options, lines: [calls(edit), "Done."] });
  turns.resume();
  const { past } = await turns.say("and now?", { flow: toolLoop, options, lines: ["Nothing."] });
  expect(past).toContain(`; ${formatted}`);
  const { past: later } = await turns.say("and now?", { flow: toolLoop, options, lines: ["Nothing."] });
  expect(told(later)).toBe(0);
});

test("eight-step's judge and later steps are told who formatted a file, and not that somebody else changed it", async () => {
  const act = modify("a.txt", ["one\n", "two  \n"]);
  const steps = [schedule({ modify: ["a.txt", "b.txt"], steps: ["one", "two"] }), act, verdict(true)];
  const more = [modify("b.txt", ["b\n", "c\n"]) + finish("Done."), verdict(true), "Done."];
  const options = { mode: "eight-step", formats: [trim] } as const;
  const ran = await play({ files, flow: eightStep, options, lines: [...steps, ...more] });
  expect(ran.outcome.code).toBe(0);
  expect(ran.requests.slice(1, 4).map(({ messages }) => told(messages.at(-1)))).toEqual([0, 1, 1]);
  expect(JSON.stringify(ran.requests)).not.toContain("not by you");
});
