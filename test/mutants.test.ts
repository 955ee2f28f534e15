/** Every deliberate bug still fits the source, so that `bun scripts/prove.ts mutants` can try it. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mutate, readMutants } from "./mutant.ts";

const root = join(import.meta.dir, "..");
const mutants = readMutants(root);

test("mutants say what they break and who must notice", () => {
  expect(mutants.length).toBeGreaterThanOrEqual(24);
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  for (const { what, tests } of mutants) {
    expect(what).toMatch(/^\S.{10,}$/);
    for (const file of tests) expect([file, existsSync(join(root, file))]).toEqual([file, true]);
  }
});

test("the text of each rule stands once in its file", () => {
  const misfits = mutants.flatMap(({ name, rules }) =>
    rules.flatMap((rule) => {
      const path = join(root, rule.file);
      return existsSync(path) && mutate(readFileSync(path, "utf8"), rule) !== null ? [] : [`${name}: ${rule.file}`];
    }),
  );
  expect(misfits).toEqual([]);
});
