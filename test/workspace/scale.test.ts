/** Looking at absurd trees takes bounded time and answers with bounded text that says what was left out. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { measureSlowness } from "../core/cpu-time.ts";
import { buildTrees, type Look, lookAt, surveyTree, type Trees } from "./attack/scale.ts";

let trees: Trees;
beforeAll(() => {
  trees = buildTrees({ files: 3000, depth: 1000, entries: 5000 });
});
afterAll(() => trees.remove());

/** Milliseconds on the machine they were written for, stretched by how slow this one is. */
const limit = (ms: number) => ms * measureSlowness();
const lastOf = (found: readonly Look[]) => Object.fromEntries(found.map(({ action, last }) => [action, last]));

test.each(["wide", "deep", "flat", "odd"])("%s: every look is quick and its answer small", async (name) => {
  for (const { action, cpuMs, answerBytes } of await lookAt(trees, name)) {
    expect([action, cpuMs < limit(2000), answerBytes < 600_000]).toEqual([action, true, true]);
  }
});

test.each([
  ["wide", 3060],
  ["deep", 1000],
  ["flat", 5000],
  ["odd", 7],
] as const)("%s: a survey for the first request looks at all of it, and is quick", async (name, entries) => {
  const { cpuMs, ...rest } = await surveyTree(trees, name);
  expect([name, cpuMs < limit(3000)]).toEqual([name, true]);
  expect(rest).toMatchObject({ entries, more: false, unread: 0 });
});

test("what is left out is said", async () => {
  expect(lastOf(await lookAt(trees, "wide"))).toMatchObject({
    TREE: "(2060 further entries not shown)",
    LIST_PATH: "(1060 more not shown)",
    "GLOB **/*7*": "(more than 200 files)",
  });
  expect(lastOf(await lookAt(trees, "flat"))).toMatchObject({
    TREE: "(4000 further entries not shown)",
    LIST_PATH: "(3000 more not shown)",
  });
  expect(lastOf(await lookAt(trees, "deep"))["TREE"]).toMatch(/further entries not shown/);
});

test("pipes, sockets, loops and a sparse file of 2 GB are named and passed over", async () => {
  const found = lastOf(await lookAt(trees, "odd"));
  expect(found["SEARCH needle"]).toBe("(3 files skipped: binary, too large or not readable)");
  expect(found["READ sparse"]).toContain("binary");
  expect(found["READ pipe"]).toContain("not a regular file");
});
