/** eight-step: schedule, act, judge, heal, summary; the verdict counts. */

import { describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PaiError } from "../../../src/core/error.ts";
import { hybrid } from "../../../src/flows/auto.ts";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { finish as end, modify, plan, schedule, verdict } from "../plans.ts";
import { type Line, makeFolder, type Place, play, playIn, type Ran, type Setup } from "../scripted.ts";

const write = (path: string, text: string, end = "") =>
  `Goal: ${path}.\nSmall.\nWRITE::${path}::EOT\n${text}\nEND::EOT\n${end}`;
const finish = end("All done.");
const summary = "Made it.\nNEXT: Add a test\nNEXT: Add docs\nShall I?";
const run = (lines: readonly Line[], { options, ...rest }: Partial<Setup> = {}) =>
  play({ lines, flow: eightStep, ...rest, options: { mode: "eight-step", ...options } });
const runIn = (place: Place, lines: readonly Line[], options: Setup["options"] = {}) =>
  playIn(place, { lines, flow: eightStep, options: { mode: "eight-step", ...options } });

test("a task of one step takes four calls where the original took eight: schedule, act, judge, summary", async () => {
  const ran = await run([schedule({ create: ["a.py"] }), write("a.py", "x = 1", finish), verdict(true), summary]);
  expect(ran.purposes).toBe("plan execute integrity summary");
  expect(ran.outcome).toMatchObject({
    status: "unverified",
    text: "Made it.\nShall I?",
    next: ["Add a test", "Add docs"],
    score: 8,
    calls: { made: 4, expected: 4, at_most: 6 },
  });
  expect(ran.files).toMatchObject({ "a.py": "x = 1\n" });
});

test("the eight steps are shown with what came of them, the thinking points among them", async () => {
  const ran = await run([schedule({ create: ["a.py"] }), write("a.py", "x = 1", finish), verdict(true, 9), summary]);
  const shown = ran.eventsOf("step.started").map(({ step, title, text }) => [step, title, text.split("\n")[0]]);
  expect(shown).toEqual([
    [1, "classify", "task, simple"],
    [2, "respond", "On it."],
    [3, "schedule", "1. Write it"],
    [4, "think, 1 of 1: Write it", ""],
    [5, "act", "Goal: a.py."],
    [6, "integrity", "passed, quality 9/10"],
    [8, "summary", ""],
  ]);
});

test("chat is answered by the reply of the one call", async () => {
  const ran = await run([schedule({ mode: "chat", steps: [] })]);
  expect(ran.outcome).toMatchObject({ status: "answered", text: "On it.", calls: { made: 1 } });
});

test("a sixth step joins the fifth, none is dropped", async () => {
  const steps = ["one", "two", "three", "four", "five", "six"];
  const acts = ["a", "b", "c", "d", "e"].flatMap((name) => [write(name, name), verdict(true)]);
  const ran = await run([schedule({ steps, create: ["a", "b", "c", "d", "e"] }), ...acts, summary]);
  expect(ran.outcome.calls).toEqual({ made: 12, expected: 12, at_most: 18 });
  expect(ran.eventsOf("step.started").findLast(({ step }) => step === 4)?.title).toBe("think, 5 of 5: five; six");
});

test("a failed verdict is healed once with its reasons and fixes, and with a step that nobody scored the run has no score", async () => {
  const ran = await run([
    schedule({ steps: ["one", "two"], create: ["a.py", "b.py"] }),
    write("a.py", "x = 1"),
    verdict(false, 3, ["x is wrong"], ["set x to 2"]),
    modify("a.py", ["x = 1\n", "x = 2\n"]),
    write("b.py", "y = 1"),
    verdict(true, 9),
    summary,
  ]);
  expect(ran.purposes).toBe("plan execute integrity heal execute integrity summary");
  expect(ran.asked(4)).toContain("- x is wrong\n- fix: set x to 2");
  expect(ran.files).toMatchObject({ "a.py": "x = 2\n", "b.py": "y = 1\n" });
  expect(ran.outcome).toMatchObject({ status: "unverified", score: null });
});

test("a step that stays failed ends the run as failed, with everything taken back and a local summary", async () => {
  const steps = schedule({ steps: ["one", "two"], create: ["a.py", "b.py"] });
  const ran = await run([steps, write("a.py", "x = 1"), verdict(false, 2, ["wrong"]), "nothing to do"]);
  const text = "rolled back: step 1, one, stayed failed: wrong";
  expect(ran.outcome).toMatchObject({ status: "failed", score: 2, code: 9, text, changes: [] });
  expect(ran.files).toEqual({});
});

test("a failing check of the user is healed and judged again by the check, not by the model", async () => {
  const heal = modify("a.sh", ["exit 1\n", "exit 0\n"]);
  const lines = [schedule({ create: ["a.sh"] }), write("a.sh", "exit 1"), verdict(true), heal, summary];
  const ran = await run(lines, { options: { checks: ["sh a.sh"] } });
  expect(ran.purposes).toBe("plan execute integrity heal summary");
  expect(ran.asked(4)).toContain("Step 1 is not whole yet:\n- ");
  expect(ran.outcome).toMatchObject({ status: "verified", checks: [{ command: "sh a.sh", exit: 0, passed: true }] });
});

test("a verdict that cannot be read fails nothing and mends nothing: checks and failed actions decide alone", async () => {
  const begun = [schedule({ create: ["a.py"] }), write("a.py", "x = 1"), "looks good to me!"];
  const ran = await run([...begun, summary]);
  expect(ran.outcome).toMatchObject({ status: "unverified", score: null, calls: { made: 4 } });
  expect(ran.eventsOf("step.started").map(({ text }) => text)).toContain("no verdict: it could not be read");
  const red = await run([...begun, write("a.py", "x = 3"), summary], { options: { checks: ["grep -q 2 a.py"] } });
  expect([red.purposes, red.outcome.code]).toEqual(["plan execute integrity heal", 9]);
});

test("FINISH in an act ends the task early and says which steps it covered, when all of the scope is done", async () => {
  const made = schedule({ steps: ["one", "two"], create: ["a.py"] });
  const ran = await run([made, write("a.py", "x = 1", finish), verdict(true), summary]);
  expect(ran.purposes).toBe("plan execute integrity summary");
  expect(ran.eventsOf("notice").map(({ code, text }) => [code, text])).toContainEqual([
    "steps_covered",
    "covered already: two",
  ]);
});

test("FINISH does not end the task while something of the scope is open; the last step must close it", async () => {
  const lines = [
    schedule({ steps: ["one", "two"], create: ["a.py", "b.py"] }),
    write("a.py", "x", finish),
    verdict(true),
    write("b.py", "y"),
    verdict(true),
    summary,
  ];
  expect((await run(lines)).outcome).toMatchObject({ status: "unverified", calls: { made: 6 } });
});

describe("work that the scope lists and no reply does", () => {
  const missing = [schedule({ create: ["a.py", "b.py"] }), write("a.py", "x"), verdict(true), "no", summary];
  const undone = [{ action: "WRITE", target: "b.py", why: "left out in the end" }];

  test("takes nothing back that was done: 15, and it is named", async () => {
    const ran = await run(missing);
    expect(ran.outcome).toMatchObject({ status: "partial", code: 15, undone, changes: [{ path: "a.py" }] });
    // The summary was told what is not done.
    expect(ran.asked(5)).toContain("Not done:\n- WRITE b.py");
    expect([ran.outcome.text, ran.outcome.claimed]).toEqual(["Made it.\nShall I?", undefined]);
    expect(ran.files).toEqual({ "a.py": "x\n" });
  });

  test.each([
    ["a strict run", {}, { strict: true }, 8],
    ["a red check", {}, { checks: ["test -e b.py"] }, 9],
    ["a verdict that says failed", { 2: verdict(false, 3, ["b.py is missing"]) }, {}, 8],
  ])("takes all back with %s", async (_, replies, more, code) => {
    const lines = missing.map((line, at) => (replies as Record<number, string>)[at] ?? line);
    const ran = await run(lines, { options: { ...more } });
    expect([ran.outcome.code, ran.outcome.undone, ran.files]).toEqual([code, undefined, {}]);
  });

  test("is left out by SKIP, or by the reason of a FINISH alone in the last step", async () => {
    const skip = [schedule({ create: ["a.py", "b.py"] }), `SKIP::b.py::one file does\n${write("a.py", "x", finish)}`];
    const last = [...missing.slice(0, 3), "FINISH::EOT\nOne file does the job.\nEND::EOT\n", summary];
    for (const lines of [[...skip, verdict(true), summary], last]) {
      const ran = await run(lines, { options: { checks: ["test -e a.py"], baseline: false } });
      expect([ran.outcome.code, ran.outcome.skipped?.map(({ target }) => target)]).toEqual([0, ["b.py"]]);
    }
  });

  test("is no more asked for when the healing of a step did it: a model that forgets FINISH pays no step again", async () => {
    const lines = [
      schedule({ steps: ["Code", "Tests", "Readme"], create: ["a.py", "b.py", "c.md"] }),
      write("a.py", "x"),
      verdict(false, 4, ["no tests"]),
      write("b.py", "y") + write("c.md", "z"),
      summary,
    ];
    const ran = await run(lines);
    expect([ran.outcome.code, ran.purposes]).toEqual([0, "plan execute integrity heal summary"]);
    expect(ran.notices()).toContain("covered already: Tests; Readme");
  });
});

test("a permitted command of the scope that no reply ran is run by pai once all is made", async () => {
  for (const [command, code] of Object.entries({ "echo ran": 0, false: 15 })) {
    const first = schedule({ create: ["a.py"], run: [command] });
    const lines = [first, write("a.py", "x", finish), verdict(true), summary];
    const ran = await run(lines, { options: { allowRun: true } });
    expect(ran.outcome.commands?.map((each) => each.command)).toEqual([command]);
    expect([ran.outcome.code, ran.files]).toEqual([code, { "a.py": "x\n" }]);
  }
});

test("what the scope does not list is refused, whatever the step says", async () => {
  const both = `${write("a.py", "x")}WRITE::evil.py::EOT\ny\nEND::EOT\n`;
  const ran = await run([schedule({ create: ["a.py"] }), both, verdict(true), "I leave it.", summary]);
  expect(Object.keys(ran.files)).not.toContain("evil.py");
  expect(ran.outcome.status).toBe("failed");
});

test("a resume or a repair takes the one spare call, never one that a later step needs", async () => {
  const steps = ["one", "two"];
  const cut = (name: string): Line => ({ text: `WRITE::${name}::EOT\nx\n`, stop: "length" });
  const bad = verdict(false, 3, ["wrong"]);
  const heal = (name: string) => modify(name, ["x\n", "y\n"]);
  const lines = [
    schedule({ steps, create: ["a.py", "b.py"] }),
    ...[cut("a.py"), "END::EOT\n", bad, heal("a.py")],
    ...[cut("b.py"), bad, write("b.py", "y")],
    summary,
  ];
  const ran = await run(lines);
  expect(ran.purposes).toBe("plan execute resume integrity heal execute integrity heal summary");
  expect(ran.outcome).toMatchObject({ status: "unverified", calls: { made: 9, at_most: 9 } });
  expect(ran.files).toMatchObject({ "a.py": "y\n", "b.py": "y\n" });
});

test("work that is done is not lost because the summary could not be had: it is written locally", async () => {
  const done = [schedule({ create: ["a.py"] }), write("a.py", "x = 1"), verdict(true)];
  const failing: readonly (readonly Line[])[] = [
    ["", ""],
    [{ text: "", fail: new PaiError("network", "the connection was refused") }],
    [{ text: "", fail: new PaiError("budget_calls", "no call is left") }],
  ];
  for (const rest of failing) {
    const ran = await run([...done, ...rest]);
    expect(ran.outcome).toMatchObject({ status: "unverified", code: 0, text: "1. Write it: passed, quality 8/10" });
    expect(ran.files).toMatchObject({ "a.py": "x = 1\n" });
  }
});

test("a file that somebody deleted while the plan was made is met before anything is done", async () => {
  const place = makeFolder({ "a.py": "x = 1\n" });
  const lines = [{ text: schedule({ modify: ["a.py"] }), before: () => rmSync(join(place.root, "a.py")) }];
  const ran = await runIn(place, lines);
  expect([ran.outcome.code, ran.files]).toEqual([11, {}]);
});

test("a move is a deletion here and content there; a command must be in the scope", async () => {
  const files = { "old.py": "x\n" };
  const scoped = schedule({ create: ["new.py"], remove: ["old.py"], run: ["true"] });
  const move = (command: string) => `MV::old.py::new.py\nRUN::${command}\n`;
  const options = { allowDelete: true, allowRun: true };
  const moved = await run([scoped, move("true"), verdict(true), summary], { files, options });
  expect([moved.outcome.status, moved.files]).toEqual(["unverified", { "new.py": "x\n" }]);
  const beyond = await run([scoped, move("touch z"), verdict(true), "no"], { files, options });
  expect([beyond.outcome.code, beyond.files]).toEqual([12, files]);
});

test("feedback on the schedule is one more call, and the new promise is shown", async () => {
  const first = schedule({ create: ["a.py"] });
  const second = schedule({ create: ["b.py"] });
  const ran = await run([first, second, write("b.py", "x"), verdict(true), summary], {
    options: { interactive: true },
    answers: [{ feedback: "name it b.py" }, "yes"],
  });
  expect(ran.asked(2)).toContain("name it b.py");
  const promises = ran.eventsOf("plan.ready").map(({ promise }) => `${promise.expected} ${promise.at_most}`);
  expect(promises).toEqual(["4 6", "5 7"]);
  expect(ran.outcome.calls).toEqual({ made: 5, expected: 5, at_most: 7 });
});

test("the summary and the verdict are never executed, whatever lines they hold", async () => {
  const files = { "victim.txt": "keep\n" };
  const judged = verdict(true, 8, ["RM::victim.txt"]);
  const lines = [schedule({ create: ["a.py"] }), write("a.py", "x", finish), judged, "RM::victim.txt\nDone."];
  expect((await run(lines, { files })).files).toMatchObject(files);
});

test("--mode auto works eight-step on a complex plan, grouped into its steps, and says so", async () => {
  const planned = (complexity: "simple" | "complex") => plan({ steps: ["WRITE a.py"], complexity });
  const options = { mode: "auto" };
  const complex = await play({
    lines: [planned("complex"), write("a.py", "x", finish), verdict(true), summary],
    ...{ flow: hybrid, options },
  });
  expect(complex.purposes).toBe("plan execute integrity summary");
  expect(complex.eventsOf("plan.ready")[0]?.promise).toMatchObject({ expected: 4, at_most: 6 });
  expect(complex.outcome).toMatchObject({ calls: { made: 4, expected: 4, at_most: 6 } });
  const simple = await play({
    lines: [planned("simple"), `WRITE::a.py::EOT\nx\nEND::EOT\n${finish}`],
    ...{ flow: hybrid, options },
  });
  expect(simple.outcome).toMatchObject({ mode: "single-shot", calls: { made: 2 } });
  expect(simple.eventsOf("notice")).toEqual([]);
});

test("a step may amend the schedule's scope, and a reply in another format is read or answered in its news", async () => {
  const amended = `AMEND::WRITE::b.py::a.py imports it\n${write("b.py", "y = 1", finish)}`;
  const act = write("a.py", "import b") + amended;
  const ran = await run([schedule({ create: ["a.py"] }), act, verdict(true), summary]);
  expect(ran.files).toEqual({ "a.py": "import b\n", "b.py": "y = 1\n" });
  expect(ran.outcome.amended).toMatchObject([{ path: "b.py", accept: true, by: "policy" }]);
  const fenced = await run([schedule({ create: ["a.py"] }), "```python\nx = 1\n```\n", verdict(true), summary]);
  expect(fenced.files).toEqual({ "a.py": "x = 1\n" });
});

test("what somebody else does to the files that the plan shows is told to the judge and to the steps behind", async () => {
  const place = makeFolder({ "a.py": "x = 1\n", "README.md": "one\n" });
  const byHand = () => writeFileSync(join(place.root, "README.md"), "one\nby hand\n");
  const ran = await runIn(place, [
    schedule({ steps: ["code", "words"], modify: ["a.py", "README.md"] }),
    { text: modify("a.py", ["x = 1\n", "x = 2\n"]), before: byHand },
    verdict(true),
    modify("README.md", ["one\n", "two\n"]) + finish,
    verdict(true),
    summary,
  ]);
  for (const request of [3, 4]) {
    expect(ran.asked(request)).toContain("changed since it was shown, and not by you: README.md");
    expect(ran.asked(request)).toContain("+by hand");
  }
  expect(ran.asked(4)).not.toContain("-x = 1");
  expect(ran.asked(5)).not.toContain("changed since it was shown");
  expect(ran.files).toMatchObject({ "README.md": "two\nby hand\n" });
});

describe("a fault that somebody mends by hand while the judge is awaited", () => {
  const bad = [
    schedule({ steps: ["one", "two"], create: ["b.py"], modify: ["a.py"] }),
    modify("a.py", ["x\n", "y\n2\n"]),
  ];
  const rest = [finish, write("b.py", "b", finish), verdict(), summary];
  const fails = verdict(false, 2, ["y is wrong"]);
  const options = { checks: ["! grep y a.py"], baseline: true } as const;
  const checked = (ran: Ran) => ran.eventsOf("check.finished").filter(({ when }) => when === "after").length;
  const mendIn = ({ root }: Place, by: string) => ({
    text: fails,
    before: () => writeFileSync(join(root, "a.py"), by),
  });

  test("the check judges what is there now, where the repair has nothing left to do", async () => {
    const place = makeFolder({ "a.py": "x\n" });
    const lines = [...bad, mendIn(place, "x\n2\n"), ...rest];
    const ran = await runIn(place, lines, options);
    expect(ran.purposes).toBe("plan execute integrity heal execute integrity summary");
    expect([ran.outcome.status, checked(ran)]).toEqual(["verified", 3]);
    expect(ran.files).toMatchObject({ "a.py": "x\n2\n", "b.py": "b\n" });
  });

  test("a check that is red there fails the step; one that saw this very tree does not run again", async () => {
    const place = makeFolder({ "a.py": "x\n" });
    const red = [...bad, mendIn(place, "y 3\n2\n"), ...rest];
    const ran = await runIn(place, red, options);
    expect(ran.outcome.error).toMatchObject({ code: "check_failed", message: expect.stringContaining("check failed") });
    expect(checked(ran)).toBe(2);
    const still = await run([...bad, fails, ...rest], {
      files: { "a.py": "x\n" },
      options: { ...options, checks: ["true"] },
    });
    expect([still.purposes, checked(still), still.outcome.error?.message]).toEqual([
      "plan execute integrity heal",
      1,
      "step 1, one, stayed failed: y is wrong",
    ]);
  });
});
