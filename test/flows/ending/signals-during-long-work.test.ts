/** Work that never waits hears signals and time limits where it takes a breath, and loses no time there. */
import { expect, test } from "bun:test";
import { breathe, listen, nextTurn } from "../../../src/core/steps.ts";
import { expectPrompt } from "../../core/cpu-time.ts";

function workFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("a time limit that is over while the work never waits is heard at the next breath", async () => {
  const limit = new AbortController();
  setTimeout(() => limit.abort(new Error("over")), 1);
  workFor(40);
  await expect(breathe(limit.signal)).rejects.toThrow("over");
});

test("a signal that comes while the work never waits is heard at the next breath", async () => {
  const stop = new AbortController();
  const hear = () => stop.abort(new Error("stop"));
  process.once("SIGUSR2", hear);
  try {
    process.kill(process.pid, "SIGUSR2");
    workFor(5);
    await expect(listen(stop.signal)).rejects.toThrow("stop");
  } finally {
    process.off("SIGUSR2", hear);
  }
});

test("listening waits for no timer", async () => {
  const { signal } = new AbortController();
  await listen(signal);
  // Timers take 1 ms each at least.
  await expectPrompt(50, async () => {
    const began = performance.now();
    for (let n = 0; n < 50; n += 1) await listen(signal);
    return performance.now() - began;
  });
});

test("what was begun before a turn is done after it", async () => {
  const done: string[] = [];
  void Promise.resolve().then(() => done.push("begun"));
  await nextTurn();
  expect(done).toEqual(["begun"]);
});
