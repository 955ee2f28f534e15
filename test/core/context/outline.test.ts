/** What is shown of a file that has no room: its outline, the parts that matter, titles and ends of tests and changelogs. */
import { expect, test } from "bun:test";
import { outlineOf } from "../../../src/core/context/blocks.ts";
import { chooseExcerpts } from "../../../src/core/context/excerpts.ts";
import { chooseParts } from "../../../src/core/context/large-file.ts";
import { termsOf } from "../../../src/core/context/words.ts";

const module = (functions: number) => Array.from({ length: functions }, (_, n) => `def step_${n}(value):`);

test.each([
  [3, 100, "step_0 1, step_1 2, step_2 3"],
  [9, 45, "step_0 1, step_3 4, step_6 7 (1 of 3)"],
  [9, 20, "step_0 1 (1 of 9)"],
  [9, 5, ""],
  [0, 100, ""],
] as const)("of %p functions in %p characters is %p", (functions, budget, outline) => {
  expect(outlineOf("a.py", module(functions), budget)).toBe(outline);
});

const partsOf = (path: string, text: string, request = "") =>
  chooseParts({ path, text, request, plan: "", output: "", looked: [], changed: [], room: 8_000 });

const group = (name: string, tests: number) =>
  [`class Test${name}:`, ...Array.from({ length: tests }, (_, at) => `    def test_${name}_${at}(self): pass`)].join(
    "\n",
  );

test("a few tests are named one by one", () => {
  expect(partsOf("tests/test_shop.py", group("Cart", 2)).outline).toBe("TestCart 1, test_Cart_0 2, test_Cart_1 3");
});

test("of many tests all groups are named, also the last one", () => {
  const text = [group("Cart", 300), group("Report", 300), "def test_alone(): pass"].join("\n");
  expect(partsOf("tests/test_shop.py", text).outline).toBe("TestCart 1, TestReport 302, test_alone 603");
});

test("the two nearest tests are shown whole, and the head ends before a test that it would cut", () => {
  const imports = Array.from({ length: 30 }, (_, at) => `import part_${at}`).join("\n");
  const body = (word: string) => ["    class Own:", "        def run(self): pass", "", `    assert ${word}() == 1`];
  const tests = ["first", "cart", "price", "round_price", "last"].map((word) =>
    [`def test_${word}():`, ...Array.from({ length: 8 }, () => "    step()"), ...body(word), "", ""].join("\n"),
  );
  const text = [imports, "", "", ...tests, ...Array.from({ length: 30 }, (_, at) => `end_${at} = 1`)].join("\n");
  const line = (start: string) => text.split("\n").indexOf(start) + 1;
  const shown = partsOf("tests/test_shop.py", text, "round the price").ranges;
  expect(shown[0]).toEqual({ from: 1, to: line("def test_first():") - 1 });
  for (const name of ["price", "round_price"]) {
    const from = line(`def test_${name}():`);
    expect(shown.some((range) => range.from <= from && from + 12 <= range.to)).toBe(true);
  }
  expect(shown.some(({ from, to }) => from <= line("def test_cart():") && line("def test_cart():") <= to)).toBe(false);
});

test("of a long release in a changelog both ends are shown, where an entry goes", () => {
  const release = (version: string, entries: number) =>
    [`## ${version}`, "", ...Array.from({ length: entries }, (_, at) => `- ${version}: change ${at}`), ""].join("\n");
  const text = ["# Changes", "", release("2.0", 100), release("1.0", 100)].join("\n");
  const shown = partsOf("CHANGES.md", text, "add an entry").ranges.map(({ from, to }) => `${from}-${to}`);
  expect(shown).toEqual(["1-30", "91-105"]);
  const short = ["# Changes", "", release("2.0", 9), release("1.0", 200)].join("\n");
  expect(partsOf("CHANGES.md", short).ranges).toEqual([{ from: 1, to: 14 }]);
});

const body = (name: string, lines: number) =>
  [
    `def ${name}():`,
    ...Array.from({ length: lines }, (_, at) => `    step_${at} = compute_the_next_value(${at})`),
  ].join("\n");

test("of two definitions with the same words the shorter one is shown", () => {
  const far = Array.from({ length: 3 }, (_, at) => body(`other_${at}`, 28));
  const text = [body("round_price", 28), ...far, body("round_total", 6), ...far].join("\n");
  const terms = termsOf("round the amounts");
  const ranked = { path: "shop.py", score: 1, signal: null };
  const [shown] = chooseExcerpts([{ ranked, text }], { terms, values: terms.map(() => 1) }, 1_500);
  expect(shown?.text).toContain("def round_total");
  expect(shown?.text).not.toContain("def round_price");
});
