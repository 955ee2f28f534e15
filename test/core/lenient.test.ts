/** Words of models that say more than the one that was asked for. */
import { expect, test } from "bun:test";
import { complexity } from "../../src/core/lenient.ts";

test("one complexity among other words counts; two or none are moderate", () => {
  const read = (word: unknown) => complexity.parse(word);
  expect(["Complex", "very complex", "complex (a third look)", "simple."].map(read)).toEqual([
    "complex",
    "complex",
    "complex",
    "simple",
  ]);
  expect(["simple to complex", "high", "", null, 3].map(read)).toEqual(Array(5).fill("moderate"));
});
