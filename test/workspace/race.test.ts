/** Nothing gets out of the root while another process swaps folders for links; a program that checks first leaks here. */
import { expect, test } from "bun:test";
import { race } from "./attack/race.ts";

const short = { reads: 20_000, writes: 2_000, ms: 900 };

test("a program that checks a path and then uses it leaks", async () => {
  let escapes = 0;
  for (let tries = 0; tries < 20 && escapes === 0; tries += 1) {
    const { readEscapes, writeEscapes } = await race("naive", { ...short, reads: 200_000 });
    escapes = readEscapes + writeEscapes;
  }
  expect(escapes).toBeGreaterThan(0);
});

test("pai reads and writes nothing behind a swapped folder", async () => {
  const done = { reads: 0, writes: 0, refused: 0 };
  const isEnough = () => done.reads > 100 && done.writes > 10 && done.refused > 10;
  for (let tries = 0; tries < 20 && !isEnough(); tries += 1) {
    const { readEscapes, writeEscapes, ...more } = await race("pai", short);
    expect([readEscapes, writeEscapes]).toEqual([0, 0]);
    for (const each of ["reads", "writes", "refused"] as const) done[each] += more[each];
  }
  expect([done, isEnough()]).toEqual([done, true]);
});
