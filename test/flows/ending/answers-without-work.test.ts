/** Questions in the ways of working that go step by step: looks are no steps, and the answer is not summarized away. */
import { describe, expect, test } from "bun:test";
import { hybrid } from "../../../src/flows/auto.ts";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { finish, modify, plan, planTo, verdict, write } from "../plans.ts";
import { play } from "../scripted.ts";

const files = { "a.py": "X = 1\n" };
const passed = verdict();
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

describe("prose is the answer", () => {
  const byHand = { interactive: true } as const;
  const mayWork = { ...byHand, atOnce: "auto" } as const;
  const code = "The list is shared:\n\n```py\nX = []\n```\n";
  const edit = "a.py\n<<<<<<< SEARCH\nX = 1\n=======\nX = 2\n>>>>>>> REPLACE\n";
  test.each([
    ["at once to a person", "who are you?", ["A model. If you like, I'll change a.py."], byHand],
    ["at once to a person, where the work might come", "hello", ["Hello!"], mayWork],
    ["with code, to a question", "why?", [code], mayWork],
    ["with code, to somebody who only asks", "show the fault", [code], { asksOnly: true }],
    ["the second time, when it announced work", "explain a.py", ["Let me look at it.", "It sets X."], byHand],
    ["the second time, when the work might come", "explain a.py", ["I'll look.", "I will look."], mayWork],
    ["the second time, with code to no question", "add Y", [code, code], mayWork],
    ["at once to a question, where nobody reads it", "what does a.py hold?", ["It sets X. X is 1."], {}],
    ["at once to a question, where the work might come", "explain a.py", ["It sets X."], { atOnce: "always" }],
    ["the second time, when it claims work", "add Y", ["Done.", "Y is added to a.py."], byHand],
  ] as const)("%s", async (_, task, lines, options) => {
    const ran = await play({ files, task, lines, options });
    const text = lines.at(-1)?.trim();
    expect(ran.outcome).toMatchObject({ status: "answered", text, calls: { made: lines.length } });
  });

  test.each([
    ["only announces work, where nobody reads it", "I will do it.", {}],
    ["claims work, where nobody reads it", "Done. The bug is fixed.", {}],
    ["claims work in other words", "a.py has been updated.", {}],
    ["speaks of something else, where work is asked for and nobody reads it", "The weather is fine.", {}],
    ["holds an edit", edit, byHand],
  ] as const)("but not one that %s, which is asked for again and fails", async (_, line, options) => {
    const { outcome } = await play({ files, task: "fix it", lines: [line, line], options });
    expect([outcome.status, outcome.code, outcome.calls.made]).toEqual(["failed", 7, 2]);
  });

  test("and what stands in place of a script, twice, is shown as the model's words", async () => {
    const lines = [planTo("MODIFY a.py"), "I cannot see Y.", "There is no Y here."];
    const { outcome } = await play({ files, lines, options: byHand, answers: "yes" });
    expect([outcome.code, outcome.text]).toEqual([7, "There is no Y here."]);
  });
});
