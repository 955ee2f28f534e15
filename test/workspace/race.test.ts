/** Nothing gets out of the root while another process swaps folders for links; a program that checks first leaks here. */
import { expect, test } from "bun:test";
import { race } from "./attack/race.ts";

const short = { reads: 20_000, writes: 2_000, ms: 900 };

test("a program that checks a path and then uses it leaks", async () => {
  const { readEscapes, writeEscapes } = await race("naive", { ...short, reads: 200_000, ms: 1500 });
  expect(readEscapes + writeEscapes).toBeGreaterThan(0);
}, 20_000);

test("pai reads and writes nothing behind a swapped folder", async () => {
  const { reads, writes, refused, ...escapes } = await race("pai", short);
  expect(escapes).toEqual({ readEscapes: 0, writeEscapes: 0 });
  expect([reads > 100, writes > 10, refused > 10]).toEqual([true, true, true]);
}, 20_000);
