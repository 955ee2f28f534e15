/** Names in the order people expect, and folders that need no line of their own. */
import { expect, test } from "bun:test";
import { listNaturally } from "../../src/ui/natural-order.ts";

test("numbers in names count by their value", () => {
  const names = ["a10.py", "a2.py", "a1.py", "b", "a", "10", "9"];
  const listed = listNaturally(names, (path) => ({ path, isNewFolder: false }));
  expect(listed).toEqual(["9", "10", "a", "a1.py", "a2.py", "a10.py", "b"]);
});

test("a new folder is shown by the file in it, an empty one by itself", () => {
  const paths = ["src", "src/deep", "src/deep/f10", "src/deep/f9", "empty"];
  const listed = listNaturally(paths, (path) => ({ path, isNewFolder: !/f\d/.test(path) }));
  expect(listed).toEqual(["empty", "src/deep/f9", "src/deep/f10"]);
});
