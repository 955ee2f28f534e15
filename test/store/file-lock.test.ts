/** The lock of a file: who waits for whom. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { withLock } from "../../src/store/file-lock.ts";
import { thisProcess } from "../../src/system/holder.ts";
import { makeFolder } from "./temp-home.ts";

test("takes over a lock whose process is gone, and frees its own when the work throws", () => {
  const file = join(makeFolder(), "f.json");
  // The number of a process that runs, which another process had before it.
  writeFileSync(`${file}.lock`, JSON.stringify({ ...thisProcess(), start: "0" }));
  expect(withLock(file, () => 7)).toBe(7);
  expect(() =>
    withLock(file, () => {
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(withLock(file, () => 8)).toBe(8);
});
