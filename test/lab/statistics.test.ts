/** Intervals and comparisons against values that are known. */
import { expect, test } from "bun:test";
import { makeReport, mcnemar, renderReportLines, wilson } from "../../src/lab/eval/report.ts";
import type { EvalResult } from "../../src/lab/eval/result.ts";

test("the interval of a share is Wilson's", () => {
  expect(wilson(34, 34).low).toBeCloseTo(0.8985, 3);
  expect(wilson(34, 34).high).toBeCloseTo(1, 9);
  expect(wilson(0, 34).high).toBeCloseTo(0.1015, 3);
  expect(wilson(5, 10).low).toBeCloseTo(0.2366, 3);
  expect(wilson(5, 10).high).toBeCloseTo(0.7634, 3);
  expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
});

test("McNemar's exact test is the two-sided binomial tail", () => {
  expect(mcnemar(0, 0)).toBe(1);
  expect(mcnemar(5, 5)).toBe(1);
  expect(mcnemar(0, 5)).toBeCloseTo(0.0625, 6);
  expect(mcnemar(10, 2)).toBeCloseTo(0.03857, 4);
  expect(mcnemar(2, 10)).toBeCloseTo(0.03857, 4);
  expect(mcnemar(0, 1000)).toBeLessThan(1e-100);
});

test("at a terminal a report is as narrow as it, and has every figure", () => {
  const shown = renderReportLines(makeReport([]), 40);
  expect(shown).toContain("Candidates\n");
  const one = { task: "bmi", model: "oracle", mode: "none", passed: true, tampered: [], ms: 1200, cost: 0.5 };
  const lines = renderReportLines(makeReport([one as unknown as EvalResult]), 40).split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
  expect(lines.join(" ").replace(/\s+/g, " ")).toContain("model oracle, mode none, passed 1, of 1, pass@1 100 %");
});
