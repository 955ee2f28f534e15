/** The user's formatters: when they run, on what, and whose their changes are. */
import { expect, test } from "bun:test";
import { call, calls, playLoop, resultsOf } from "../loop.ts";
import { finish, modify, planTo } from "../plans.ts";
import { play } from "../scripted.ts";

const files = { "a.txt": "one\n", "b.txt": "b\n" };
const lines = [planTo("MODIFY a.txt"), modify("a.txt", ["one\n", "two  \n"]) + finish("Done.")];
const trim = "sed -i 's/ *$//' {}";

test("a formatter runs on each changed file before the checks, and what it changes is the run's", async () => {
  const checks = ["! grep -q ' $' a.txt"];
  const ran = await play({ files, lines, options: { formats: [trim], checks } });
  expect([ran.outcome.status, ran.files["a.txt"]]).toEqual(["verified", "two\n"]);
  expect(ran.outcome.changes).toMatchObject([{ path: "a.txt", added: 1, deleted: 1 }]);
  expect(ran.notices("formatted")[0]).toBe(`formatted by ${trim}: a.txt`);
});

test("without checks it runs too; what it changes in other files is taken back", async () => {
  const ran = await play({ files, lines, options: { formats: ["sed -i 's/ *$/!/' *.txt; touch new.txt"] } });
  expect([ran.outcome.code, ran.files]).toEqual([0, { "a.txt": "two!\n", "b.txt": "b\n" }]);
  expect(ran.notices()).toContainEqual(expect.stringContaining("what it changed elsewhere was taken back: b.txt"));
});

test("one that fails is told, and the run goes on; a failing check takes its work back, too", async () => {
  const told = await play({ files, lines, options: { formats: ["echo no such thing; exit 3"] } });
  expect(told.outcome.code).toBe(0);
  expect(told.notices()).toContain("echo no such thing; exit 3: exit 3 no such thing");
  const options = { formats: [trim], checks: ["grep -q one a.txt"] };
  const red = await play({ files, lines: [...lines, finish("x")], options });
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
