/** Which names some letters find. */
import { expect, test } from "bun:test";
import { findNames } from "../../src/core/name-search.ts";

test("the last part of a path counts first, then the path, then letters with others between; short names first", () => {
  const [early, failing, old, failure, ill] = [
    ...["src/cli/early-failure.ts", "test/failing.ts", "docs/fail/old.md", "src/Failure.ts", "src/fa/ill.ts"],
  ] as const;
  const names = [early, failing, old, failure, ill, "README.md"];
  expect(findNames(names, "fail", 9)).toEqual([failure, failing, early, old, ill]);
  expect(findNames(names, "early-fail", 9)).toEqual([early]);
  expect([findNames(names, "erlyfl", 9), findNames(names, "xyz", 9)]).toEqual([[early], []]);
  expect(findNames(names, "f", 1)).toEqual([failure]);
});
