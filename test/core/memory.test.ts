/** Facts: taken out of a closing message, tied to the files they name, chosen by the words of a task. */
import { expect, test } from "bun:test";
import { chooseFacts, factNamesIn, type MemoryFact, takeFacts } from "../../src/core/memory.ts";

const fact = (text: string, pending = false): MemoryFact => ({
  ...{ id: text, text, run: "r", at: "2026-11-22T10:00:00Z", pending, files: {} },
});

test("at most three facts leave the message, however their lines are marked", () => {
  const message =
    "Done.\nREMEMBER: tests run with make check\n- **REMEMBER:** a\nREMEMBER: b\nREMEMBER: c\nREMEMBER: a\nBye.";
  expect(takeFacts(message)).toEqual({ text: "Done.\nBye.", facts: ["tests run with make check", "a", "b"] });
  expect(takeFacts("I will remember: nothing")).toEqual({ text: "I will remember: nothing", facts: [] });
});

test("every word may name a file, without the full stop behind it", () => {
  expect(factNamesIn("see scripts/lint.json, and Makefile.")).toEqual(["see", "scripts/lint.json", "and", "Makefile"]);
});

test("accepted facts that share words with the task come first, and all fit into 1,500 characters", () => {
  const facts = [fact("prices are in cents"), fact("tests run with pytest"), fact("secret", true)];
  const chosen = chooseFacts(facts, "fix the failing test").map(({ text }) => text);
  expect(chosen).toEqual(["tests run with pytest", "prices are in cents"]);
  const many = Array.from({ length: 40 }, (_, at) => fact(`${at} ${"x".repeat(200)}`));
  expect(chooseFacts(many, "any").reduce((sum, { text }) => sum + text.length + 3, 0)).toBeLessThanOrEqual(1500);
});
