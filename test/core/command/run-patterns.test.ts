/** What a pattern of --allow-run matches: the whole command, and never one that holds a second. */
import { expect, test } from "bun:test";
import { flagToRun, grantsRun, patternOf } from "../../../src/core/command/run-patterns.ts";

const matching = (pattern: string, ...commands: readonly string[]) =>
  commands.filter((command) => grantsRun([pattern], command));

test("a pattern matches the whole command; * stands for any text, also for none", () => {
  expect(matching("npm test", "npm test", " npm test ")).toEqual(["npm test", " npm test "]);
  expect(matching("npm test", "npm test x", "x npm test", "NPM test")).toEqual([]);
  expect(matching("pytest *", "pytest -q", "pytest tests/a.py::t", "pytest ", "pytest", "pytestx")).toEqual([
    "pytest -q",
    "pytest tests/a.py::t",
  ]);
  expect(matching("*", "ls", "rm -rf x")).toEqual(["ls", "rm -rf x"]);
  expect(matching("a*b*a", "aba", "aXbXa", "ab", "aa", "abab", "abba")).toEqual(["aba", "aXbXa", "abba"]);
  expect(matching("*.py", "python3 a.py", "a.py b")).toEqual(["python3 a.py"]);
  expect(matching("RUN df *", "df -h", "RUN df -h")).toEqual(["df -h"]);
});

test("everything but * stands for itself", () => {
  expect(matching("ls [ab].?", "ls [ab].?", "ls a.x")).toEqual(["ls [ab].?"]);
  expect(matching("make {a,b}", "make {a,b}", "make a")).toEqual(["make {a,b}"]);
});

test("a command that may hold a second one matches no pattern, whatever that says", () => {
  for (const sign of [";", "&", "|", "<", ">", "$", "(", ")", "`", "\n", "\r"]) {
    const command = `npm test ${sign} rm -rf x`;
    for (const pattern of ["*", "npm test *", command])
      expect([sign, pattern, grantsRun([pattern], command)]).toEqual([sign, pattern, false]);
  }
});

test("the first pattern that matches is the one that is named", () => {
  expect(patternOf(["make *", "npm *", "npm test"], "npm test")).toBe("npm *");
  expect([patternOf(true, "ls"), patternOf(false, "ls"), patternOf([], "ls")]).toEqual([null, null, null]);
});

test("the flag that would grant a command is safe to paste, and grants no more than that command", () => {
  expect(flagToRun("echo it's")).toBe("--allow-run='echo it'\\''s'");
  expect([flagToRun("a; b"), flagToRun("ls *")]).toEqual(["--allow-run", "--allow-run"]);
});
