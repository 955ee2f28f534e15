/** What stands beside the parts of a test file: titles of its tests, or of their groups when there are many. */
import { expect, test } from "bun:test";
import { chooseParts } from "../../../src/core/context/large-file.ts";

const outlineOf = (path: string, text: string) =>
  chooseParts({ path, text, request: "", plan: "", output: "", looked: [], changed: [], room: 8_000 }).outline;

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
