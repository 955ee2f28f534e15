/** Evidence before the work: the user's checks run first, and what they print is known to every call. */
import { describe, expect, test } from "bun:test";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { followPlan } from "../../../src/flows/single-shot.ts";
import { needs } from "../../needs.ts";
import { copies, here } from "../../workspace/sandbox/here.ts";
import { finish, modify, planOf, planTo, schedule, talk, verdict } from "../plans.ts";
import { makeFolder, play, playIn } from "../scripted.ts";

const files = { "a.txt": "one\n" };
const planned = planTo("MODIFY a.txt");
const change = modify("a.txt", ["one\n", "two\n"]) + finish();
const red = "cat a.txt; echo 'FAIL: other'; exit 1";

test("the output is in the plan call and in the execution call, and every check says when it starts", async () => {
  const ran = await play({ files, lines: [planned, change], options: { checks: ["cat a.txt; grep -q two a.txt"] } });
  expect(ran.outcome.status).toBe("verified");
  for (const n of [1, 2]) expect(ran.told(n)).toContain('exit="1" note="fails">\none\n</check>');
  expect(ran.eventsOf("check.started").map(({ when }) => when)).toEqual(["before", "after"]);
  const types = ran.events.map(({ type }) => type);
  expect(types.indexOf("check.finished")).toBeLessThan(types.indexOf("model.started"));
});

describe("a check that cannot be run", () => {
  test("ends the run with 2 before any call, and is named", async () => {
    const ran = await play({ files, lines: [], options: { checks: ["pytst-x -q"] } });
    expect(ran.outcome).toMatchObject({ code: 2, calls: { made: 0 }, error: { code: "usage" } });
    expect(ran.outcome.error?.message).toContain("pytst-x -q");
    const assigned = await play({ files, lines: [], options: { checks: ["A=1 pytst-x -q"] } });
    expect(assigned.outcome.code).toBe(2);
  });

  test("may be what the task is to make, when it is named by a path, or without a baseline", async () => {
    const lines = [planTo("WRITE test.sh"), `WRITE::test.sh::EOT\nexit 0\nEND::EOT\n${finish()}`];
    const own = await play({ lines, options: { checks: ["./test.sh || sh ./test.sh"] } });
    expect(own.outcome).toMatchObject({ code: 0, status: "verified" });
    const none = await play({ lines: [...lines, finish()], options: { checks: ["pytst-x"], baseline: false } });
    expect([none.outcome.code, none.eventsOf("check.started").map(({ when }) => when)]).toEqual([9, ["after"]]);
  });
});

describe("the wait for it", () => {
  test("ends after a while: the plan is made without the results, the work waits for them", async () => {
    const check = "sleep 0.3; echo 'it is red'; exit 1";
    const lines = [planned, change, finish()];
    const ran = await play({ files, lines, options: { checks: [check], checkWaitMs: 50 } });
    expect(ran.asked(1)).toContain(`- ${check}`);
    expect(ran.asked(1)).not.toContain("\nit is red");
    expect(ran.asked(2)).toContain("\nit is red");
    expect(ran.eventsOf("notice").map(({ code }) => code)).toContain("checks_late");
  });

  test("ends with the run: a declined plan stops the check and takes back what it changed", async () => {
    const check = "echo x > made.txt; sleep 600";
    const options = { checks: [check], checkWaitMs: 300, interactive: true };
    const ran = await play({ files, lines: [planned], options, answers: ["no"] });
    expect([ran.outcome.code, ran.files]).toEqual([10, files]);
  });
});

describe("a failure that was there before", () => {
  const lines = [planned, modify("a.txt", ["one\n", "one\ntwo\n"]) + finish(), finish()];
  const check = "echo 'FAIL: other'; exit 1";

  test("is reported to the model and to the user, and fails the run all the same", async () => {
    const ran = await play({ files, lines, options: { checks: [check] } });
    expect(ran.outcome).toMatchObject({ code: 9, changes: [] });
    expect(ran.outcome.error?.message).toContain("the same failure as before");
    expect(ran.outcome.error?.hint).toContain("--no-worse");
    expect(ran.asked(3)).toContain('note="the same failure as before">');
    expect(ran.eventsOf("check.finished").at(-1)?.note).toBe("the same failure as before");
  });

  test("is another one when its lines differ: --no-worse does not help", async () => {
    const options = { checks: ["sed 's/^/FAIL: /' a.txt; exit 1"], noWorse: true };
    const ran = await play({ files, lines: [planned, change, finish()], options });
    expect(ran.outcome.code).toBe(9);
    expect(ran.outcome.error?.message).toContain("new since before: FAIL: two");
  });

  test("is not seen where the check prints nothing, and the hint says what --no-worse needs", async () => {
    const ran = await play({ files, lines, options: { checks: ["false"], noWorse: true } });
    expect([ran.outcome.code, ran.outcome.error?.message]).toEqual([9, "check failed: false (exit 1)"]);
    expect(ran.outcome.error?.hint).toStartWith("--no-worse accepts a failure only where its output shows");
  });

  test("decides a run that changed nothing, unless the user takes it", async () => {
    const strict = await play({ files, lines: [talk("No.")], options: { checks: [red] } });
    expect(strict.outcome).toMatchObject({ code: 9, text: "No." });
    const lenient = await play({ files, lines: [talk("No.")], options: { checks: [red], noWorse: true } });
    expect(lenient.outcome).toMatchObject({ code: 0, status: "unverified", text: "No." });
  });
});

const alone = [{ dryRun: true }, { planOnly: true }];

needs(copies).test("a dry run and a plan alone run checks on a copy, of which nothing stays", async () => {
  const check = "touch left.txt; echo 'FAIL: other'; exit 1";
  for (const options of alone) {
    const ran = await play({ files, lines: [planned, change], options: { ...options, checks: [check] } });
    expect([ran.outcome.code, ran.files]).toEqual([0, files]);
    expect(ran.asked(1)).toContain('note="fails">\nFAIL: other\n</check>');
    expect(ran.eventsOf("check.started").map(({ when }) => when)).toEqual(["before"]);
  }
});

const withoutCopies = needs({ name: "a machine without copies", isHere: !here.proposes });
withoutCopies.test("without such a sandbox they run no check, and say so", async () => {
  for (const options of alone) {
    const ran = await play({ files, lines: [planned, change], options: { ...options, checks: [red] } });
    expect([ran.outcome.code, ran.eventsOf("check.started").length]).toEqual([0, 0]);
    expect(ran.eventsOf("notice").map(({ code }) => code)).toContain("checks_not_run");
    expect(ran.asked(1)).toContain(`- ${red}`);
  }
});

test("eight-step is told the output with its schedule and with its first step", async () => {
  const options = { mode: "eight-step", checks: ["cat a.txt; grep -q two a.txt"] };
  const lines = [schedule({ modify: ["a.txt"] }), change, verdict(), "Done."];
  const ran = await play({ files, flow: eightStep, lines, options });
  expect(ran.outcome).toMatchObject({ code: 0, status: "verified" });
  for (const n of [1, 2]) expect(ran.asked(n)).toContain('note="fails">\none\n</check>');
});

test("a saved plan is carried out against its checks as they were before", async () => {
  const place = makeFolder(files);
  const ran = await playIn(place, {
    lines: [change],
    flow: followPlan(planOf({ steps: ["MODIFY a.txt"] }), null),
    options: { command: "apply", checks: ["grep -q two a.txt"] },
  });
  expect(ran.outcome).toMatchObject({ code: 0, status: "verified" });
  expect(ran.eventsOf("check.started").map(({ when }) => when)).toEqual(["before", "after"]);
});
