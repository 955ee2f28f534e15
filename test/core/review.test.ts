/** A review's parts and findings: nothing of a diff is lost, and the gravest finding comes first. */
import { expect, test } from "bun:test";
import {
  asGraveAs,
  inOrderOfWeight,
  packParts,
  renderFinding,
  type Severity,
  splitDiff,
} from "../../src/core/review.ts";

const diffOf = (path: string, lines: number) =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -0,0 +1,${lines} @@\n${"+a line\n".repeat(lines)}`;
const finding = (severity: Severity, path: string, line: number | null = null) => ({
  ...{ path, line, severity, text: "wrong", suggestion: null },
});

test("a diff is split by its files, also where one is deleted", () => {
  const gone = "diff --git a/c b/c\n--- a/c\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
  expect(splitDiff(diffOf("a", 1) + diffOf("b/d", 2) + gone).map(({ path }) => path)).toEqual(["a", "b/d", "c"]);
});

test("parts have the wanted size, hold every character, and small files share one", () => {
  const parts = splitDiff(diffOf("a", 5) + diffOf("b", 5) + diffOf("c", 500));
  const packed = packParts(parts, 1000);
  expect(packed.join("")).toBe(parts.map(({ text }) => text).join(""));
  expect(packed[0]).toContain("+++ b/b");
  for (const part of packed) expect(part.length).toBeLessThanOrEqual(1000);
});

test("findings come by weight, path and line, and those that count are told from the rest", () => {
  const all = [finding("low", "a"), finding("high", "b", 2), finding("medium", "a"), finding("high", "b", 1)];
  const told = inOrderOfWeight(all).map((each) => `${each.severity} ${each.path} ${each.line}`);
  expect(told).toEqual(["high b 1", "high b 2", "medium a null", "low a null"]);
  const severities = ["high", "medium", "low"] as const;
  expect(severities.map((least) => asGraveAs(all, least).length)).toEqual([2, 3, 4]);
  expect(renderFinding({ ...finding("low", "a", 3), suggestion: "x\ny" })).toBe("a:3  low  wrong\n    x\n    y\n");
});
