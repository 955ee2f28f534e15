/** The numbers of evaluations, and their report. */
import { expect, test } from "bun:test";
import type { EvalResult } from "../../src/lab/eval/candidate.ts";
import { makeReport, mcnemar, renderHtml, renderReportLines, wilson } from "../../src/lab/eval/report.ts";

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
  const one = { task: "bmi", model: "oracle", mode: "none", passed: true, tampered: [], ms: 1200, cost: 0.5 };
  const lines = renderReportLines(makeReport([one as unknown as EvalResult]), 40).split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
  expect(lines.join(" ").replace(/\s+/g, " ")).toContain("model oracle, mode none, passed 1, of 1, pass@1 100 %");
});

test("a name of a task is shown as it is, with marks of HTML and of Markdown", () => {
  const task = "a|b <i>c</i> &lt; ~~d~~ *e*";
  const row = { model: "local:x", mode: "auto", passed: 1, results: 1, ms: 1, actions: 1, added: 1, deleted: 0 };
  const page = renderHtml({ candidates: [], pairs: [], tasks: [{ ...row, task, refused: 0 }] });
  expect(page).toContain("<td>a|b &lt;i&gt;c&lt;/i&gt; &amp;lt; ~~d~~ *e*</td>");
});
