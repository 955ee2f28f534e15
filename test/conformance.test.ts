/** The table of rules in docs/cli.md is the one the tests give. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findUntested, renewPage } from "../scripts/conformance.ts";

test("every rule of the command line has a test that names it", () => {
  expect(findUntested()).toEqual([]);
});

test("docs/cli.md says what holds; renew it with: bun scripts/conformance.ts", () => {
  const page = readFileSync(join(import.meta.dir, "../docs/cli.md"), "utf8");
  expect(renewPage(page)).toBe(page);
});
