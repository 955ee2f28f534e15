/** Names in the order people expect, and folders that need no line of their own. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { compareNaturally, listNaturally } from "../../src/ui/natural-order.ts";

test("numbers in names count by their value", () => {
  const names = ["a10.py", "a2.py", "a1.py", "a02.py", "b", "a", "10", "9"];
  expect(names.toSorted(compareNaturally)).toEqual(["9", "10", "a", "a1.py", "a02.py", "a2.py", "a10.py", "b"]);
});

test("it is an order: the same both ways, and whatever comes between", () => {
  const name = fc.string({ unit: fc.constantFrom("a", "b", "0", "1", "2", "/"), maxLength: 6 });
  fc.assert(
    fc.property(name, name, name, (a, b, c) => {
      expect(Math.sign(compareNaturally(a, b))).toBe(-Math.sign(compareNaturally(b, a)) || 0);
      expect(compareNaturally(a, b) === 0).toBe(a === b);
      if (compareNaturally(a, b) <= 0 && compareNaturally(b, c) <= 0)
        expect(compareNaturally(a, c)).not.toBeGreaterThan(0);
    }),
  );
});

test("a new folder is shown by the file in it, an empty one by itself", () => {
  const paths = ["src", "src/deep", "src/deep/f10", "src/deep/f9", "empty"];
  const listed = listNaturally(paths, (path) => ({ path, isNewFolder: !/f\d/.test(path) }));
  expect(listed).toEqual(["empty", "src/deep/f9", "src/deep/f10"]);
});
