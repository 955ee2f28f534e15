/** Looking at absurd trees ends soon, with a bounded text that says what was left out. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { buildTrees, lookAt, type Trees } from "./attack/scale.ts";

let trees: Trees;
beforeAll(() => {
  trees = buildTrees();
});
afterAll(() => trees.remove());

/** Looks at a tree; the last line of each answer. */
async function lastLines(name: string): Promise<Readonly<Record<string, string>>> {
  const found = await lookAt(trees, name);
  for (const [look, text] of found) expect([look, text.length < 600_000]).toEqual([look, true]);
  return Object.fromEntries([...found].map(([look, text]) => [look, text.slice(text.lastIndexOf("\n") + 1)]));
}

test("what is left out of many files and deep folders is said", async () => {
  expect(await lastLines("wide")).toMatchObject({
    TREE: "(2060 further entries not shown)",
    LIST_PATH: "(1060 more not shown)",
    "GLOB **/*7*": "(more than 200 files)",
  });
  expect(await lastLines("flat")).toMatchObject({
    TREE: "(4000 further entries not shown)",
    LIST_PATH: "(3000 more not shown)",
  });
  expect((await lastLines("deep"))["TREE"]).toMatch(/further entries not shown/);
});

test("pipes, sockets, loops and a sparse file of 2 GB are named and passed over", async () => {
  const found = await lastLines("odd");
  expect(found["SEARCH needle"]).toBe("(3 files skipped: binary, too large or not readable)");
  expect(found["READ sparse"]).toContain("binary");
  expect(found["READ pipe"]).toContain("not a regular file");
});
