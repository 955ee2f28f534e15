/** What is shown of a file beside the source: of tests their titles, imports, the nearest two and the end; of a changelog both ends of a release. */
import { expect, test } from "bun:test";
import { chooseParts } from "../../../src/core/context/large-file.ts";

const outlineOf = (path: string, text: string) =>
  chooseParts({ path, text, request: "", plan: "", output: "", looked: [], changed: [], room: 8_000 }).outline;

const rangesOf = (path: string, text: string, request: string) =>
  chooseParts({ path, text, request, plan: "", output: "", looked: [], changed: [], room: 8_000 }).ranges;

const group = (name: string, tests: number) =>
  [`class Test${name}:`, ...Array.from({ length: tests }, (_, at) => `    def test_${name}_${at}(self): pass`)].join(
    "\n",
  );

test("a few tests are named one by one", () => {
  expect(outlineOf("tests/test_shop.py", group("Cart", 2))).toBe("TestCart 1, test_Cart_0 2, test_Cart_1 3");
});

test("of many tests all groups are named, also the last one", () => {
  const text = [group("Cart", 300), group("Report", 300), "def test_alone(): pass"].join("\n");
  expect(outlineOf("tests/test_shop.py", text)).toBe("TestCart 1, TestReport 302, test_alone 603");
});

test("the two nearest tests are shown whole, and the head ends before a test that it would cut", () => {
  const imports = Array.from({ length: 30 }, (_, at) => `import part_${at}`).join("\n");
  const body = (word: string) => ["    class Own:", "        def run(self): pass", "", `    assert ${word}() == 1`];
  const tests = ["first", "cart", "price", "round_price", "last"].map((word) =>
    [`def test_${word}():`, ...Array.from({ length: 8 }, () => "    step()"), ...body(word), "", ""].join("\n"),
  );
  const text = [imports, "", "", ...tests, ...Array.from({ length: 30 }, (_, at) => `end_${at} = 1`)].join("\n");
  const line = (start: string) => text.split("\n").indexOf(start) + 1;
  const shown = rangesOf("tests/test_shop.py", text, "round the price");
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
  expect(rangesOf("CHANGES.md", text, "add an entry")).toEqual([
    { from: 1, to: 30 },
    { from: 91, to: 105 },
  ]);
  expect(rangesOf("CHANGES.md", ["# Changes", "", release("2.0", 9), release("1.0", 200)].join("\n"), "")).toEqual([
    { from: 1, to: 14 },
  ]);
});
