/** What is told of a file or a check again, because a turn made outdated what was told before, or sent no request. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../../src/core/model.ts";
import { finish, modify, plan, planOf, planTo, talk } from "../plans.ts";
import { ask, openTurns } from "../turns.ts";

const interactive = { interactive: true } as const;
const edit = [planTo("MODIFY a.txt"), modify("a.txt", ["one\n", "two\n"]) + finish("It says two."), finish(), finish()];

test("a file that somebody put back to what was shown before the run is told as changed", async () => {
  const turns = openTurns({ "a.txt": "one\n" });
  await turns.say("make it two", { lines: edit, options: interactive, answers: "yes" });
  writeFileSync(join(turns.root, "a.txt"), "one\n");
  const next = await turns.say("what now?", ask);
  expect(next.asked(1)).toContain("-two\n+one");
  expect((await turns.say("and now?", ask)).asked(1)).not.toContain("-two");
});

test("a long file that the run deleted and somebody brought back is not told as changed since it was shown", async () => {
  const long = Array.from({ length: 3000 }, (_, at) => `line ${at}\n`).join("");
  const turns = openTurns({ "a.txt": long });
  const lines = [planTo("RM a.txt"), `RM::a.txt\n${finish("It is gone.")}`];
  const gone = await turns.say("delete a.txt", { lines, options: interactive, answers: "yes", mentioned: ["a.txt"] });
  expect([gone.asked(1).includes("line 7\n"), gone.files]).toEqual([true, {}]);
  const back = (text: string) => writeFileSync(join(turns.root, "a.txt"), text);
  back(long);
  expect((await turns.say("what now?", ask)).asked(1)).not.toContain("Changed since it was shown");
  back(long.replaceAll("line", "row"));
  expect((await turns.say("and now?", ask)).asked(1)).toContain("by more than fits here: a.txt");
});

test("a check that is red again, as before the run, is told again, and one that stayed so without a run is not", async () => {
  const turns = openTurns({ "a.txt": "one\n" });
  const options = { ...interactive, checks: ["grep -q two a.txt"] };
  await turns.say("make it two", { lines: edit, options, answers: "yes" });
  writeFileSync(join(turns.root, "a.txt"), "one\n");
  const told = "Checks of the user, before this task;";
  expect((await turns.say("what now?", { ...ask, options })).asked(1)).toContain(told);
  expect((await turns.say("and now?", { ...ask, options })).asked(1)).not.toContain(told);
});

test("what somebody else changed stays at a no to keeping, and is not told as kept", async () => {
  const turns = openTurns({ "a.txt": "one\n" });
  const put = () => writeFileSync(join(turns.root, "a.txt"), "three\n");
  const lines = [planTo("MODIFY a.txt"), modify("a.txt", ["one\n", "two\n"]) + finish("It says two.")];
  const options = { ...interactive, checks: ["grep -q four a.txt"] };
  const late = { text: finish("It says two."), before: put };
  const ran = await turns.say("do it", { ...{ lines: [...lines, late, finish()], options }, answers: ["yes", "no"] });
  expect(ran.files).toEqual({ "a.txt": "three\n" });
  expect(ran.questions.at(-1)?.text).toEndWith("(no: nothing is taken back, since somebody else changed a.txt)");
  expect(ran.outcome).toMatchObject({ text: "not kept: check failed: grep -q four a.txt (exit 1)" });
  // A redo of it brings something back.
  expect(turns.open.session.turns.at(-1)?.changed).toBe(false);
  const { past } = await turns.say("what now?", ask);
  expect(past).toContain(
    "pai: not kept, as the user chose when asked, but for what somebody else had changed since, which is as they left it, with what of your edits is in it: a.txt; failed: check failed: grep -q four a.txt",
  );
  expect(past).not.toMatch(/(?<!not )kept|; changed:/);
});

test("work that somebody took back while a reply was awaited is not told as there, nor kept", async () => {
  const turns = openTurns({ "a.txt": "one\n" });
  const put = () => writeFileSync(join(turns.root, "a.txt"), "one\n");
  const lines = [
    plan({ steps: ["MODIFY a.txt"], complexity: "complex" }),
    modify("a.txt", ["one\n", "two\n"]) + finish("It says two."),
  ];
  const late = { text: finish("It says two."), before: put };
  const options = { ...interactive, checks: ["grep -q four a.txt"] };
  const ran = await turns.say("do it", { lines: [...lines, late, finish(), finish()], options, answers: ["yes"] });
  expect(ran.told(4)).toContain("-two\n+one");
  expect(ran.told(4)).toContain("Somebody else changed a.txt behind your edits.");
  expect(ran.told(4).split("Your edits are in the files now.")).toHaveLength(2);
  expect(ran.outcome).toMatchObject({ code: 9, changes: [] });
  expect(ran.outcome.keep).toBeUndefined();
  const { past } = await turns.say("what now?", ask);
  expect(past).toContain("pai: nothing is left of it, failed: check failed: grep -q four a.txt (exit 1)");
  expect(past).toContain("what this run changed is no longer there: somebody took it back before the run ended");
});

test("a waiting plan that is declined swallows neither the user's command nor the change of a file by hand", async () => {
  const turns = openTurns({ "a.txt": "one\ntwo\n" });
  const made = { steps: ["MODIFY a.txt"] };
  const first = await turns.say("make it a number", { lines: [plan(made)], options: interactive, answers: ["no"] });
  expect(first.requests).toHaveLength(1);
  writeFileSync(join(turns.root, "a.txt"), "uno\ntwo\n");
  const text = "the user ran $ echo banana (exit 0)\nbanana";
  turns.open.add({ type: "session.noted", at: "", what: "command", run: null, text });
  const again = await turns.say("make it a number", {
    lines: [],
    options: interactive,
    answers: ["no"],
    planCache: { load: () => planOf(made) as unknown as Json, save: () => {} },
  });
  expect(again.requests).toHaveLength(0);
  expect(again.outcome.error?.code).toBe("declined");
  const next = await turns.say("what changed?", { lines: [talk("a.txt.")], options: interactive, answers: [] });
  expect(next.requests[0]?.messages).toHaveLength(3);
  expect(next.past.match(/not applied, the user declined/g)).toHaveLength(2);
  expect(next.past).toContain("banana");
  expect(next.asked(1)).toContain('<diff since="shown">');
  expect(next.asked(1)).toContain("+uno");
});

test("of a dry run it is told that nothing was written, and none of its changes as one of the files", async () => {
  const turns = openTurns({ "a.txt": "one\n", "b.txt": "b\n" });
  const work = `${modify("a.txt", ["one\n", "two\n"])}RM::b.txt\n${finish("It says two, and b.txt is gone.")}`;
  const options = { ...interactive, dryRun: true, checks: ["true"] };
  const lines = [planTo("READ b.txt", "MODIFY a.txt", "RM b.txt"), work];
  const dry = await turns.say("make it two", { lines, options, answers: "yes" });
  expect(dry.outcome).toMatchObject({ code: 0, dry_run: true, changes: [{ path: "a.txt" }, { path: "b.txt" }] });
  expect(turns.open.session.turns[0]?.changed).toBe(false);
  const next = await turns.say("and now?", ask);
  expect(next.past).toStartWith(
    "pai: a dry run, so nothing was written; it would have changed: a.txt, b.txt (deleted)",
  );
  expect(next.told(1)).not.toContain('<diff since="shown">');
  expect(JSON.stringify(next.requests[0]?.messages)).not.toContain("b.txt is gone");
});
