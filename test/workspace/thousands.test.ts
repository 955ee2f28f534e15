/** Batches of a thousand paths: as safe as those of a few, and given up at once when they are interrupted. */
import { expect, test } from "bun:test";
import { change, file, makePlace, openPlace, treeOf } from "./tree.ts";

/** A signal that is aborted when it is asked for the time of this number; `asked` counts. */
function abortedAt(time: number): { readonly signal: AbortSignal; readonly asked: () => number } {
  const { signal } = new AbortController();
  let count = 0;
  Object.defineProperty(signal, "aborted", { get: () => ++count >= time });
  Object.defineProperty(signal, "reason", { value: new Error("stopped") });
  return { signal, asked: () => count };
}

const thousand = Array.from({ length: 1000 }, (_, at) => change(`d${at % 20}/f${at}.txt`, null, file(`${at}`)));
const batch = [change("a.txt", file("a"), file("A")), ...thousand];

test("a batch of a thousand that is interrupted at any step is not done", async () => {
  const made = makePlace({ "a.txt": "a" });
  const before = treeOf(made.work);
  const whole = openPlace(made).begin("r0");
  const never = abortedAt(Number.POSITIVE_INFINITY);
  await whole.apply(batch, "plan", never.signal);
  await whole.rollback();
  const steps = never.asked();
  expect(steps).toBeGreaterThan(batch.length);
  const tx = openPlace(made).begin("r1");
  for (const part of [0, 0.5, 0.9]) {
    const { signal } = abortedAt(1 + Math.floor(part * steps));
    await expect(tx.apply(batch, "plan", signal)).rejects.toThrow("stopped");
    expect(treeOf(made.work)).toEqual(before);
  }
  expect(tx.changes).toEqual([]);
});
