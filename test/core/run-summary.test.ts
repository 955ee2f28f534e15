import { expect, test } from "bun:test";
import type { FactOf } from "../../src/core/receipt.ts";
import { summarizeRun } from "../../src/core/run-summary.ts";

const ended = (outcome: object) =>
  summarizeRun("20261122-100000000-00ab", null, { outcome } as unknown as FactOf<"run.finished">);

test("a refused plan counts as one refusal, and its refused actions as theirs", () => {
  expect(ended({ code: 12, refused: [] }).refused).toBe(1);
  expect(ended({ code: 12, refused: [{}, {}] }).refused).toBe(2);
  expect(ended({ code: 0, refused: [] }).refused).toBe(0);
});

test("a run without a call costs nothing, one of an unknown price has none", () => {
  expect(ended({ cost: null, calls: { made: 0 } }).cost).toBe(0);
  expect(ended({ cost: null, calls: { made: 2 } }).cost).toBeNull();
});
