/** Exact, unique text comes before every heuristic, wherever in its lines it begins and ends. */
import { describe, expect, test } from "bun:test";
import { edit, refusalText } from "./edit-on-text.ts";

describe("text that begins or ends inside a line", () => {
  test.each([
    ['print("hello world two", 1)\n', '("hello world two", 1)', '("hello", 2)', 'print("hello", 2)\n'],
    [
      "    rates = [CODES[c] for c in codes if c in CODES]\n",
      "[CODES[c] for c in codes if c in CODES]",
      "load(codes)",
      "    rates = load(codes)\n",
    ],
    ["    if (alpha and beta):\n", "(alpha and beta)", "(alpha or beta)", "    if (alpha or beta):\n"],
    [
      "f() {\n  if (msAbs >= d) {\n    return plural(ms, msAbs, d, 'day');\n  }\n}\n",
      "  if (msAbs >= d) {\n    return plural(",
      "  if (msAbs >= w) {\n    return week(",
      "f() {\n  if (msAbs >= w) {\n    return week(ms, msAbs, d, 'day');\n  }\n}\n",
    ],
    ["a(b, c)\nd(e)\n", "c)\nd(", "x)\ny(", "a(b, x)\ny(e)\n"],
    ["price = total;\n", "total", "sum", "price = sum;\n"],
  ])("%p takes %p", (before, search, replace, after) => {
    expect(edit(before, { search, replace })).toBe(after);
  });

  test("whole lines come first: the same text inside another line takes nothing from them", () => {
    expect(edit("x = a\na\nb = ax\n", { search: "a\n", replace: "c\n" })).toBe("x = a\nc\nb = ax\n");
  });

  test("no end splits a word or a number", () => {
    for (const [line, search] of [
      ["a = 10\n", "a = 1"],
      ["a = 1.5\n", "a = 1"],
      ["a = 1.5\n", "5"],
      ["v = 1.2.3;\n", "v = 1.2"],
      ["const limits = 1;\n", "limit"],
      ["rename_all(x)\n", "all(x)"],
      ["größer = 1;\n", "gr"],
    ] as const)
      expect([line, search, edit(line, { search, replace: "z" })]).toEqual([line, search, "not_found in block 1"]);
    expect(edit("let t = self.0;\n", { search: "self", replace: "this" })).toBe("let t = this.0;\n");
  });

  test("twice in the file is no match", () => {
    expect(edit("f(a, b)\ng(a, b)\n", { search: "(a, b)", replace: "(a)" })).toBe("not_found in block 1");
  });

  test("indentation alone is left to the steps that know how to place REPLACE", () => {
    expect(edit("if a:\n        b()\n", { search: "b()\n", replace: "b()\nc()\n" })).toBe(
      "if a:\n        b()\n        c()\n",
    );
  });

  test("an edit that was made before is not made twice", () => {
    expect(edit("x = await load(u);\n", { search: "load(u)", replace: "await load(u)" })).toBe("already");
    expect(edit("x = f(a) + 1;\n", { search: "x = f(a)", replace: "x = f(a) + 1" })).toBe("already");
  });

  test("text that is only a part of a word is reported as such", () => {
    expect(refusalText("a = 10\n", { search: "a = 1\n", replace: "a = 2\n" })).toContain("only a part of line 1");
  });
});
