/** What the model is told of a block: the closest lines, tolerated differences, characters that the file cannot hold; lines that changed since are never overwritten. */
import { describe, expect, test } from "bun:test";
import { applyEdits } from "../../../src/core/edit/apply-edits.ts";
import { toBytes, tryEdits } from "./edit-on-text.ts";

test("characters the file cannot hold are refused, those of its encoding are written", () => {
  const now = Uint8Array.from([0x63, 0xe9, 0x0a, 0x61, 0x0a]);
  const make = (replace: string) =>
    applyEdits({ path: "l.txt", now, shown: null, blocks: [{ search: "a\n", replace }] });
  expect(make("✅\n")).toMatchObject({ kind: "refused", block: 1, text: expect.stringContaining("is not UTF-8") });
  const bytes = Uint8Array.from([0x63, 0xe9, 0x0a, 0xe9, 0x80, 0x0a]);
  expect(make("é€\n")).toEqual({ kind: "applied", bytes, notes: [] });
});

describe("what a model is told", () => {
  test("the closest lines as they are, their position, and the first difference", () => {
    const file = "def f(x):\n    y = x\n    return x or 0\n\ndef g():\n    pass\n";
    const text = tryEdits(file, { search: "def f(x):\n    y = x\n    return y\n", replace: "z\n" }).told;
    expect(text).toBe(
      [
        "the text to replace is not in the file",
        "Closest lines now in the file (1-3):",
        "def f(x):",
        "    y = x",
        "    return x or 0",
        'First difference: your line 3 "    return y" / file "    return x or 0".',
        "Copy the lines exactly as they are in the file.",
      ].join("\n"),
    );
  });

  test("the first difference shown is one of words: indentation alone would have been forgiven", () => {
    const file = "class A:\n    def f(self, x):\n        if x < 0:\n            raise ValueError('positive')\n";
    const search = "def f(self, x):\n    if x < 0:\n        raise ValueError('> 0')\n";
    expect(tryEdits(file, { search, replace: "pass\n" }).told).toContain(
      "First difference: your line 3 \"        raise ValueError('> 0')\"",
    );
  });

  test("a line that is only like one in the file is found by its letters, another file's is not", () => {
    const file = "a = load(1)\nresult = compute(alpha, beta)\n";
    const told = (text: string, search: string) => tryEdits(text, { search, replace: "z\n" }).told;
    expect(told(file, "result = compute(alpha, gamma)\n")).toContain("in the file (2)");
    const tests = "class T:\n    def test_parse(self):\n        pass\n\n    def test_total(self):\n        pass\n";
    expect(told(tests, "    def test_totals(self):\n")).toContain("in the file (5)");
    expect(tryEdits(file, { search: "<html>\n<body>\n", replace: "z\n" }).told).not.toContain("Closest lines");
  });

  test("a tolerated difference is noted, an exact match is not", () => {
    expect(tryEdits("  a()\n", { search: "a()\n", replace: "b()\n" }).notes).toEqual(["it fits ignoring indentation"]);
    expect(tryEdits("a()\n", { search: "a()\n", replace: "b()\n" }).notes).toEqual([]);
  });
});

const edit = (shown: string, now: string, search: string, replace: string) =>
  applyEdits({ path: "a.txt", now: toBytes(now), shown: toBytes(shown), blocks: [{ search, replace }] });

test("a block over lines of which one has changed is refused", () => {
  const shown = "one\ntwo\nthree\nfour\n";
  for (const now of ["one\nTWO\nthree\nfour\n", "one\ntwo\nnew\nthree\nfour\n", "one\nthree\nfour\n"]) {
    expect(edit(shown, now, "one\ntwo\nthree\n", "eins\nzwei\ndrei\n")).toMatchObject({ kind: "refused" });
  }
});

test("a block beside lines that have changed is applied", () => {
  const result = edit("one\ntwo\nthree\n", "new\none\ntwo\nTHREE\n", "one\ntwo\n", "eins\nzwei\n");
  expect(result).toMatchObject({ kind: "applied", bytes: toBytes("new\neins\nzwei\nTHREE\n") });
});
