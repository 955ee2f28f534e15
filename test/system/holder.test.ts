/** Whoever may still be at work is never held to be dead. */
import { expect, test } from "bun:test";
import { isAlive, thisProcess } from "../../src/system/holder.ts";

test("a process is alive while it runs, dead after a reboot, and in another container nobody can tell", () => {
  const here = thisProcess();
  expect(isAlive(here)).toBe(true);
  expect(isAlive({ ...here, start: "0" })).toBe(false);
  expect(isAlive({ ...here, boot: "another" })).toBe(false);
  expect(isAlive({ ...here, start: "0", space: "pid:[1]" })).toBe(true);
});
