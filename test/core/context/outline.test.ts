/** The outline of a file: all that it defines where that fits, else every nth name, found out quickly. */
import { expect, test } from "bun:test";
import { outlineOf } from "../../../src/core/context/blocks.ts";
import { expectCpu } from "../cpu-time.ts";

const module = (functions: number) => Array.from({ length: functions }, (_, n) => `def step_${n}(value):`);

test.each([
  [3, 100, "step_0 1, step_1 2, step_2 3"],
  [9, 45, "step_0 1, step_3 4, step_6 7 (1 of 3)"],
  [9, 20, "step_0 1 (1 of 9)"],
  [9, 5, ""],
  [0, 100, ""],
] as const)("of %p functions in %p characters is %p", (functions, budget, outline) => {
  expect(outlineOf("a.py", module(functions), budget)).toBe(outline);
});

test("of a file of 400,000 functions takes as long as reading its lines", () => {
  const lines = module(400_000);
  expectCpu(2000, () => expect(outlineOf("a.py", lines, 600)).toMatch(/^step_0 1, step_\d+ \d+, .* \(1 of \d+\)$/));
});
