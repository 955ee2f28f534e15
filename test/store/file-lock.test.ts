/** The lock of a private file. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { withLock } from "../../src/store/safe-file.ts";
import { makeFolder } from "./temp-home.ts";

test("frees its lock when the work throws, and leaves no file", () => {
  const file = join(makeFolder(), "f.json");
  expect(() =>
    withLock(file, () => {
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(withLock(file, () => 8)).toBe(8);
  expect(existsSync(`${file}.lock`)).toBe(false);
});
