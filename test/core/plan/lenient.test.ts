/** Words of models that say more than the one that was asked for. */
import { expect, test } from "bun:test";
import { complexity, lenientText } from "../../../src/core/plan/lenient.ts";

test("one complexity among other words counts; two or none are moderate", () => {
  const read = (word: unknown) => complexity.plain(word);
  expect(["Complex", "very complex", "complex (a third look)", "simple."].map(read)).toEqual([
    "complex",
    "complex",
    "complex",
    "simple",
  ]);
  expect(["simple to complex", "high", "", null, 3].map(read)).toEqual(Array(5).fill("moderate"));
});

test("words in lists and objects are words; what is wrapped without end says nothing", () => {
  expect(["a", ["a", "b"], { file: "a", fix: ["b", 3] }, null, 4].map((value) => lenientText.plain(value))).toEqual([
    "a",
    "a, b",
    "a: b, 3",
    "",
    "4",
  ]);
  expect(lenientText.plain(JSON.parse(`${'{"a":'.repeat(20_000)}"x"${"}".repeat(20_000)}`))).toBe("");
});
