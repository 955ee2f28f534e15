/** The output of commands and checks: what is kept of it, and what it says. */
import { describe, expect, test } from "bun:test";
import { compareFailures, renderComparison, tailOf } from "../../../src/core/command/check-output.ts";
import { clipText, openClip, shareOut } from "../../../src/core/command/clip.ts";

const logOf = (count: number, isError: (n: number) => boolean) =>
  Array.from({ length: count }, (_, n) => (isError(n) ? `${n} ERROR disk ${n}` : `${n} all is well`)).join("\n");

const clipLog = (count: number, bytes: number, isError: (n: number) => boolean) =>
  clipText(logOf(count, isError), shareOut(bytes));

test("a text that fits is as it was", () => {
  const text = logOf(50, () => false);
  expect(clipText(text, shareOut(text.length))).toBe(text);
});

test("lines of errors are kept wherever they stand, also where the beginning and the end are cut", () => {
  for (let at = 0; at < 2000; at += 7)
    expect(clipLog(2000, 4000, (n) => n === at)).toContain(`\n${at} ERROR disk ${at}\n`.trimStart());
});

test("of a flood of errors the newest are kept, once and in their order", () => {
  const text = clipLog(90_000, 4000, (n) => n < 80_000);
  const kept = [...text.matchAll(/ERROR disk (\d+)/g)].map(([, n]) => Number(n)).filter((n) => n > 1000);
  expect(kept.at(-1)).toBe(79_999);
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, n) => 80_000 - kept.length + n));
  expect(text).toContain(`; lines of errors among them, the newest ${kept.length}:]\n`);
  expect(text.length).toBeLessThan(4200);
});

test("the pieces in which a text comes make no difference", () => {
  const bytes = new TextEncoder().encode(logOf(3000, (n) => n % 500 === 3));
  const whole = clipText(new TextDecoder().decode(bytes), shareOut(3000));
  for (const size of [1, 7, 4096]) {
    const clip = openClip(shareOut(3000));
    for (let at = 0; at < bytes.length; at += size) clip.add(bytes.subarray(at, at + size));
    expect([clip.isCut, clip.total, clip.text()]).toEqual([true, bytes.length, whole]);
  }
});

test("of a line without end the part around the word is kept, cut between words", () => {
  const text = clipText(`${"fine words ".repeat(3000)} panic ${"more words ".repeat(3000)}`, shareOut(12_000));
  expect(text).toMatch(/, all 1:\]\n(?:fine|words| )+panic (?:more|words| )+\n\[and the end\]/);
});

const failed = (output: string, exit = 1) => ({ exit, passed: false, output });
const unittest = (failures: string, took: string, count: number) =>
  `F..\n=====\n${failures}\n-----\nRan ${count} tests in ${took}s\n\nFAILED (failures=1)\n`;

describe("two failures are the same", () => {
  test.each([
    ["durations", "FAILED a in 0.12s", "FAILED a in 3.4s"],
    ["dates", "error at 2026-11-22T10:11:12Z", "error at 2026-11-23 09:01:02.5"],
    ["addresses", "Error: <object at 0x7f01> failed", "Error: <object at 0xdeadbeef> failed"],
    ["ports", "Error: connect localhost:41233 failed", "Error: connect localhost:5000 failed"],
    ["process ids", "Error: process 812 failed", "Error: process 9124 failed"],
    ["line numbers behind a path", "src/a.py:12: error: bad", "src/a.py:19: error: bad"],
    ["line numbers of a traceback", 'File "a.py", line 3, in f\nError: x', 'File "a.py", line 9, in f\nError: x'],
    ["the number that TAP gives a test", "not ok 1 - splits rows", "not ok 2 - splits rows"],
    ["the order of what fails", "FAIL a\nFAIL b", "FAIL b\nFAIL a"],
    ["lines that tell no failure", unittest("FAIL: t", "0.01", 3), unittest("FAIL: t", "0.02", 4)],
    ["a log's date", "error in a/2026-11-29T18_37_16_646Z-0.log", "error in a/2026-11-30T07_01_02_003Z-0.log"],
  ])("when only %s differ", (_name, before, after) => {
    expect(compareFailures(failed(before), failed(after))).toEqual({ same: true, fresh: [] });
  });

  test.each([
    ["a count differs", "3 tests failed", "4 tests failed"],
    ["a value differs", "AssertionError: 1 != 2", "AssertionError: 1 != 3"],
    ["one failure is gone", "FAIL a\nFAIL b", "FAIL a"],
    ["one failure is new", "FAIL a", "FAIL a\nFAIL b"],
    ["the same line comes twice", "FAIL a", "FAIL a\nFAIL a"],
  ])("but not when %s", (_name, before, after) => {
    expect(compareFailures(failed(before), failed(after))?.same).toBe(false);
  });

  test("nor with another exit code", () => {
    expect(compareFailures(failed("FAIL a", 1), failed("FAIL a", 2))?.same).toBe(false);
  });
});

test("empty and cut outputs, and a check that passed, are compared with nothing", () => {
  expect(compareFailures(failed(""), failed(""))).toBeNull();
  const cut = failed("FAIL\n[4000 bytes left out]\nx");
  expect(compareFailures(cut, cut)).toBeNull();
  expect(compareFailures({ exit: 0, passed: true, output: "ok" }, failed("FAIL"))).toBeNull();
});

const twoFail = "FAILED t.py::one\nFAILED t.py::two\n2 failed, 2 passed in 0.31s\n";
const trace = ">       raise ValueError(weight)\nE       ValueError: too light\nFAILED test_bmi.py::test_light";

test.each([
  ["FAIL a", "FAIL a\nFAIL b\nFAIL c", "new since before: FAIL b (and 1 more line)"],
  ["FAIL a", trace, "new since before: E       ValueError: too light (and 2 more lines)"],
  ["FAIL a\nFAIL b", "FAIL a", "fewer failures than before"],
  // Totals that count fewer failures are nothing new.
  [twoFail, "FAILED t.py::two\n1 failed, 3 passed in 0.29s\n", "fewer failures than before"],
  [
    twoFail,
    "FAILED t.py::one\nFAILED t.py::two\n3 failed, 1 passed in 0.29s\n",
    "new since before: 3 failed, 1 passed in 0.29s",
  ],
  [twoFail, "FAILED t.py::two\nE  Oops: 1 error\n1 failed, 3 passed in 0.29s\n", "new since before: E  Oops: 1 error"],
])("what is new is named by the first line that says what failed: after %j, %j", (before, after, said) => {
  expect(renderComparison(compareFailures(failed(before), failed(after)))).toBe(said);
});

test("the end of a long output is shown from the beginning of a line, and what is missing is counted", () => {
  const output = Array.from({ length: 900 }, (_, at) => `line ${at}`).join("\n");
  const shown = tailOf(output);
  expect(shown).toMatch(/^\[… \d+ characters before this are left out\]\nline \d+\n/);
  expect(shown.endsWith("line 899")).toBe(true);
  expect(shown.length).toBeLessThan(3100);
  expect(tailOf("short\n")).toBe("short");
  expect(tailOf("x".repeat(5000)).length).toBeGreaterThan(2900);
});
