/** What a person is asked: whole sentences, and a command that cannot pass for pai's own words. */
import { expect, test } from "bun:test";
import { answerPrompt, approvalWording, sandboxWording } from "../../src/core/approval-wording.ts";
import type { RelPath } from "../../src/core/path.ts";
import type { Question } from "../../src/core/question.ts";

const { plan, command, changedMeanwhile, beyondPlan, amendments, wish, wishToRun } = approvalWording;

test("a question about a plan names what it deletes, what needs its own yes, and each command with its sandbox", () => {
  const sandbox = sandboxWording("/p", { level: "full", why: null });
  expect(plan([], [], [], "")).toBe("Carry out this plan?");
  expect(plan(["a", "b"], [".x (may run)"], ["make\nIt deletes: nothing", "ls"], sandbox)).toBe(
    "Carry out this plan?\nIt deletes: a, b\nIt changes what needs a yes of its own: .x (may run)\n" +
      "It runs (in /p, sandbox full):\n│ make\n│ It deletes: nothing\nIt runs (in /p, sandbox full):\n│ ls",
  );
});

test("without a sandbox a question says why", () => {
  expect(sandboxWording("/p", { level: null, why: "it is off" })).toBe("(in /p, not sandboxed: it is off)");
  expect(sandboxWording("/p", { level: null, why: null })).toBe("(in /p, not sandboxed)");
});

test("every line of a command is marked, whatever ends it", () => {
  expect(command("a\r\nb\rc\u2028d", "(in /p)")).toBe("Run this command?\n│ a\n│ b\n│ c\n│ d\n(in /p)");
  expect(changedMeanwhile([])).toBe("");
  expect(changedMeanwhile(["run.sh", "lib.sh"])).toBe("run.sh, lib.sh was changed since you were asked\n");
});

test("a model's wishes are asked about in one question, each with its reason", () => {
  const end = "Yes allows it; no leaves it out, and the rest goes on";
  expect(beyondPlan("write a")).toBe(`Not in the plan: write a\n${end}`);
  expect(amendments([wish("MODIFY", "a", "", null)])).toBe(
    `The model asks for one thing beyond the plan:\n- MODIFY a: no reason given\n${end}`,
  );
  expect(amendments([wish("MV", "a → b", "tidy", "make runs it"), wishToRun("RUN", "ls", "to see", "(in /p)")])).toBe(
    `The model asks for more than the plan:\n- MV a → b: tidy (make runs it)\n- RUN (in /p): to see\n│ ls\n${end}`,
  );
});

test("only a batch with a folder and a command in the sandbox offer a yes that lasts", () => {
  const src = "src" as RelPath;
  const ls = { commands: ["ls"], isConfined: true };
  const rows: readonly (readonly [Omit<Question, "text">, string])[] = [
    [{ kind: "batch", folder: src }, "apply? y, n, a (always below src/; plans still ask), or say what to change: "],
    [{ kind: "batch", folder: null }, "apply? y, n, or say what to change: "],
    [{ kind: "batch", folder: null, takesWords: false }, "apply? y or n: "],
    [{ kind: "changes", folder: src }, "go on? y or n: "],
    [{ kind: "command", ...ls }, "run? y, n or a (always this command): "],
    [{ kind: "plan", ...ls }, "run? y, n, a (always this command), or say what to change: "],
    [{ kind: "scope", ...ls, commands: ["ls", "make"] }, "run? y, n or a (always these commands): "],
    [{ kind: "plan", ...ls, isConfined: false }, "run? y, n, or say what to change: "],
    [{ kind: "command" }, "run? y or n: "],
  ];
  for (const [question, prompt] of rows) expect(answerPrompt({ ...question, text: "" })).toBe(prompt);
});
