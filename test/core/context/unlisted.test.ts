/** A file that a request names has its place also where the project is too large to be listed whole. */
import { expect, test } from "bun:test";
import { findUnlisted, rankProject, wordsOf } from "../../../src/core/context/project.ts";
import type { RelPath } from "../../../src/core/path.ts";
import type { Survey } from "../../../src/core/ports.ts";

const there = new Set(["far/deep/total.py", "far/cart.py", "near.py"]);
const find = (written: string) => (there.has(written) ? (written as RelPath) : null);
const listed = new Set(["near.py", "src/a.py"]);

test.each([
  ["the total in far/deep/total.py is wrong, see near.py", "", ["far/deep/total.py"]],
  ["repair this", 'File "/home/me/project/far/cart.py", line 2, in total', ["far/cart.py"]],
  ["far/cart.py:12 and far/cart.py:14", "", ["far/cart.py"]],
  ["far/none.py and src/a.py", "", []],
] as const)("in %p %p", (request, output, paths) => {
  expect(findUnlisted({ request, output }, listed, { find })).toEqual([...paths]);
});

test("it comes first, with its lines, and nothing is looked for where all is listed", async () => {
  const asked = { request: "the total in far/deep/total.py:12 is wrong", output: "" };
  const rank = async (more: boolean) => {
    const survey: Survey = {
      list: async () => ({ entries: [], more }),
      tally: async () => ({ files: 2, totalLength: 2, found: [], unread: 0 }),
      history: async () => ({ commits: [], lacks: null }),
      find,
      finish: () => {},
      close: () => {},
    };
    const { signal } = new AbortController();
    const parts = { survey, words: wordsOf(asked), asked, paths: [...listed], unranked: new Set<string>(), more };
    const { ranking } = await rankProject({ ...parts, read: async () => null, signal });
    return ranking.files.map(({ path, signal: named }) => [path, named?.lines]);
  };
  expect(await rank(true)).toEqual([["far/deep/total.py", [12]]]);
  expect(await rank(false)).toEqual([]);
});
