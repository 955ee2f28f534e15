/** Which names some letters find. */
import { expect, test } from "bun:test";
import { findNames } from "../../src/core/name-search.ts";

test("the last part of a path counts first, then the path, then letters with others between; short names first", () => {
  const names = [
    "src/cli/early-failure.ts",
    "test/failing.ts",
    "docs/fail/old.md",
    "src/Failure.ts",
    "src/fa/ill.ts",
    "README.md",
  ];
  expect(findNames(names, "fail", 9)).toEqual([
    "src/Failure.ts",
    "test/failing.ts",
    "src/cli/early-failure.ts",
    "docs/fail/old.md",
    "src/fa/ill.ts",
  ]);
  expect(findNames(names, "early-fail", 9)).toEqual(["src/cli/early-failure.ts"]);
  expect([findNames(names, "erlyfl", 9), findNames(names, "xyz", 9)]).toEqual([["src/cli/early-failure.ts"], []]);
  expect(findNames(names, "f", 1)).toEqual(["src/Failure.ts"]);
});
