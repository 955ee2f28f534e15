/** Names in messages. */
import { expect, test } from "bun:test";
import { nameSome } from "../../src/core/suggest.ts";

test("a few names are listed, of many the first and how many more", () => {
  expect(nameSome(["a"])).toBe("a");
  expect(nameSome(["a", "b", "c"], 3)).toBe("a, b, c");
  expect(nameSome(Array.from({ length: 70 }, (_, n) => `run${n}`))).toBe("run0, run1, run2, run3, run4 and 65 more");
});
