/** Which blocks of which files the first request shows where there is room for more than what matters. */
import { expect, test } from "bun:test";
import { chooseExcerpts } from "../../../src/core/context/excerpts.ts";
import type { Signal } from "../../../src/core/context/signals.ts";
import { termsOf } from "../../../src/core/context/words.ts";

const terms = termsOf("round the invoice total");
const sought = { terms, values: terms.map(({ weight }) => weight) };

/** A module of functions of eight lines, with these words in the body of each. */
const module = (count: number, words: string) =>
  Array.from({ length: count }, (_, n) => `def step_${n}(value):\n${`    # ${words}\n`.repeat(6)}\n`).join("");

const file = (path: string, score: number, signal: Signal | null = null) => ({
  ranked: { path, score, signal },
  text: module(90, "round the invoice total"),
});

const shown = (...files: ReturnType<typeof file>[]) => chooseExcerpts(files, sought, 60_000).map(({ path }) => path);

test("a file that is far less likely than the best one is not shown, though there is room", () => {
  expect(shown(file("a.py", 1), file("b.py", 0.2))).toEqual(["a.py", "b.py"]);
  expect(shown(file("a.py", 1), file("b.py", 0.1))).toEqual(["a.py"]);
});

test("a test or a paper must be twice as likely as code to be shown, or be named", () => {
  const named: Signal = { weight: 0, lines: [], by: "output" };
  const checked: Signal = { ...named, symbols: [] };
  for (const path of ["tests/test_b.py", "docs/b.md"]) {
    expect(shown(file("a.py", 1), file(path, 0.2))).toEqual(["a.py"]);
    expect(shown(file("a.py", 1), file(path, 0.4))).toEqual(["a.py", path]);
    expect(shown(file("a.py", 1), file(path, 0.2, checked))).toEqual(["a.py"]);
    expect(shown(file("a.py", 1), file(path, 0.2, named))).toEqual(["a.py", path]);
  }
});

test("a file that is named is shown however unlikely it is", () => {
  for (const by of ["request", "output"] as const)
    expect(shown(file("a.py", 1), file("b.py", 0.01, { weight: 0, lines: [], by }))).toEqual(["a.py", "b.py"]);
});

test("lines that a traceback names come first, and do not push aside what the words find", () => {
  const traced = file("b.py", 0.01, { weight: 0, lines: [81], by: "output" });
  const [a, b] = chooseExcerpts([file("a.py", 1), traced], sought, 9_000);
  expect([a?.path, b?.path, b?.ranges.some(({ from, to }) => from <= 81 && 81 <= to)]).toEqual(["a.py", "b.py", true]);
  expect(a?.text.length).toBeGreaterThan(6_000);
});
