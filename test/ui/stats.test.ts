/** The figures of `pai stats`: none is shown where nothing could be counted. */
import { expect, test } from "bun:test";
import type { GroupTotals } from "../../src/core/run-summary.ts";
import { renderStats } from "../../src/ui/stats.ts";
import { styleOf } from "./fixture.ts";

const failed: GroupTotals = {
  ...{ key: "2026-11-23", runs: 4, solved: 0, verified: 0, kept: 4, calls: 0, tokens: 1000, cached: 500 },
  ...{ cost: 0, unpriced: 0, ms: 4000, refused: 0, amended: 0, changed: 0, undone: 0 },
};
const endOf = (whole: GroupTotals) =>
  renderStats([whole], whole, "day", { style: styleOf(false), columns: null })
    .split("\n")
    .slice(-5, -1);

test("without a solved run or changed files, no price of a solved run and no share of undone runs is shown", () => {
  expect(endOf(failed)).toEqual([
    "tokens: 1,000, of them 500 cached, weighed 550",
    "cost: $0.00",
    "time: 4.0 s in all, 1.0 s a run",
    "0 refused actions, 0 amendments, no run changed files",
  ]);
});

test("with both, the price and the share are shown", () => {
  expect(endOf({ ...failed, solved: 2, cost: 0.5, changed: 3, undone: 1 })).toEqual([
    "tokens: 1,000, of them 500 cached, weighed 550",
    "cost: $0.50, $0.25 a solved run",
    "time: 4.0 s in all, 1.0 s a run",
    "0 refused actions, 0 amendments, 33 % of the runs that changed files were undone",
  ]);
});
