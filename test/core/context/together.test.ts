/** Files that usually change with the likeliest ones come behind the first five. */
import { expect, test } from "bun:test";
import { kindWeights } from "../../../src/core/context/kind.ts";
import type { Ranked } from "../../../src/core/context/rank.ts";
import { addCompany } from "../../../src/core/context/together.ts";

const file = (path: string, score: number): Ranked => ({
  path,
  score,
  kind: "code",
  words: score,
  history: 0,
  frequency: 0,
  signal: null,
});
const files = [1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3].map((score, at) => file(`f${at}.c`, score));
const paths = [...files.map(({ path }) => path), "f0.h", "far.c", "f0_test.c", "gone.h"].filter(
  (path) => path !== "gone.h",
);
const commit = (...names: readonly string[]) => ({ subject: "", body: "", files: names });
const ranked = (...commits: readonly ReturnType<typeof commit>[]) =>
  addCompany(files, commits, paths, kindWeights("")).map(({ path }) => path);

test("the header that changes with the first file comes behind the first five", () => {
  const order = ranked(...Array.from({ length: 9 }, () => commit("f0.c", "f0.h", "gone.h")));
  expect(order.slice(0, 7)).toEqual(["f0.c", "f1.c", "f2.c", "f3.c", "f4.c", "f5.c", "f0.h"]);
  expect(order).not.toContain("gone.h");
});

test("one commit makes no company, nor do large ones, nor those of files further behind", () => {
  const before = files.map(({ path }) => path);
  expect(ranked(commit("f0.c", "f0.h"))).toEqual(before);
  const many = Array.from({ length: 30 }, (_, n) => `many${n}.c`);
  expect(ranked(...Array.from({ length: 9 }, () => commit("f0.c", "f0.h", ...many)))).toEqual(before);
  expect(ranked(...Array.from({ length: 9 }, () => commit("f7.c", "far.c")))).toEqual(before);
});

test("a test that changes with it says less than code that does", () => {
  const order = ranked(...Array.from({ length: 9 }, () => commit("f0.c", "f0_test.c", "far.c")));
  expect(order.indexOf("far.c")).toBeLessThan(order.indexOf("f0_test.c"));
});

test("a short ranking stays as it is", () => {
  const few = files.slice(0, 3);
  const commits = Array.from({ length: 9 }, () => commit("f0.c", "f0.h"));
  expect(addCompany(few, commits, paths, kindWeights(""))).toEqual(few);
});
