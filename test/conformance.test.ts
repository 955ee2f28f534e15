/** The table of rules in the README is the one the tests give. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findUntested, renewReadme } from "../scripts/conformance.ts";

test("every rule of the command line has a test that names it", () => {
  expect(findUntested()).toEqual([]);
});

test("the README says what holds; renew it with: bun scripts/conformance.ts", () => {
  const readme = readFileSync(join(import.meta.dir, "../README.md"), "utf8");
  expect(renewReadme(readme)).toBe(readme);
});
