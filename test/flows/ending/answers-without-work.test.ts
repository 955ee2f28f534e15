/** Questions in the ways of working that go step by step: looks are no steps, and the answer is not summarized away. */
import { expect, test } from "bun:test";
import { hybrid } from "../../../src/flows/auto.ts";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { finish, modify, plan, talk, write } from "../plans.ts";
import { play } from "../scripted.ts";

const files = { "a.py": "X = 1\n" };
const passed = JSON.stringify({ passed: true, quality_score: 9, reasons: [], next_fix: [] });
const schedule = JSON.stringify({
  mode: "task",
  complexity: "complex",
  reply: "I look.",
  steps: [{ title: "Explain", hint: "" }],
  scope: { files_to_read: ["a.py"] },
});

test("a step's answer is judged, and kept as it was written", async () => {
  const lines = [schedule, `goal: explain\n${finish("It sets X.\n\n- to 1")}`, passed];
  const ran = await play({ flow: eightStep, files, lines });
  expect(ran.asked(3)).toContain("It sets X.\n\n- to 1");
  expect([ran.outcome.status, ran.outcome.text]).toEqual(["answered", "It sets X.\n\n- to 1"]);
});

test("an answer without FINISH is kept too", async () => {
  const ran = await play({ flow: eightStep, files, lines: [schedule, "It sets X to 1.", passed] });
  expect(ran.outcome.text).toBe("It sets X to 1.");
});

test("what is said beside a command, before its output is known, is not an answer", async () => {
  const commands = JSON.stringify({ ...JSON.parse(schedule), scope: { commands: ["echo hi"] } });
  const lines = [commands, `RUN::echo hi\n${finish("It fails.")}`, passed, "It prints hi."];
  const ran = await play({ flow: eightStep, files, options: { allowRun: true }, lines });
  expect([ran.outcome.text, ran.asked(2).includes("\nhi\n")]).toEqual(["It prints hi.", true]);
});

test("auto: a look of the plan is not a separate step", async () => {
  const steps = ["READ a.py", "SEARCH X", "MODIFY a.py", "WRITE b.py"];
  const lines = [
    plan({ steps, complexity: "complex" }),
    modify("a.py", ["X = 1\n", "X = 2\n"]),
    passed,
    write("b.py", "Y = 1\n") + finish(),
    passed,
    "Done.",
  ];
  const ran = await play({ flow: hybrid, files, lines });
  expect(ran.asked(2)).toEndWith("Step 1 of 2: MODIFY a.py");
  expect(ran.outcome.calls).toMatchObject({ made: 6, expected: 6 });
});

test("auto: looks alone are answered by the next plan call", async () => {
  const lines = [plan({ steps: ["READ a.py", "TREE ."], complexity: "complex" }), talk("It sets X.")];
  const ran = await play({ flow: hybrid, files, lines });
  expect(ran.outcome).toMatchObject({
    text: "It sets X.",
    status: "answered",
    calls: { made: 2, expected: 2, at_most: 3 },
  });
});
