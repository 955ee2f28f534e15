/** Batches of thousands of paths: as safe as those of a few, and given up at once when they are interrupted. */
import { expect, test } from "bun:test";
import { usePlaces } from "./places.ts";
import { change, file, openPlace, treeOf } from "./tree.ts";

const place = usePlaces();

test("a batch of thousands that is interrupted is not done, and that is known within a second", async () => {
  const made = place({ "a.txt": "a" });
  const before = treeOf(made.work);
  const tx = openPlace(made).begin("r1");
  const many = Array.from({ length: 4000 }, (_, at) => change(`d${at % 20}/f${at}.txt`, null, file(`${at}`)));
  const began = performance.now();
  const whole = openPlace(made).begin("r0");
  await whole.apply(many);
  const wholeMs = performance.now() - began;
  await whole.rollback();
  for (const part of [0.02, 0.2, 0.5]) {
    const controller = new AbortController();
    const stop = setTimeout(() => controller.abort(new Error("stopped")), part * wholeMs);
    await expect(tx.apply([change("a.txt", file("a"), file("A")), ...many], "plan", controller.signal)).rejects.toThrow(
      "stopped",
    );
    clearTimeout(stop);
    expect(treeOf(made.work)).toEqual(before);
  }
  expect(tx.changes).toEqual([]);
}, 20_000);

test("thousands of paths are written as a few are: the same tree, and back", async () => {
  const made = place({ "old/a.txt": "a" });
  const before = treeOf(made.work);
  const tx = openPlace(made).begin("r1");
  const many = Array.from({ length: 600 }, (_, at) => change(`d${at % 20}/f${at}.txt`, null, file(`${at}`)));
  await tx.apply([...many, change("old/a.txt", file("a"), file("A"))]);
  expect(treeOf(made.work)).toMatchObject({ "d3/f3.txt": "file 644 3", "old/a.txt": "file 644 A" });
  expect(Object.keys(treeOf(made.work)).filter((path) => path.endsWith(".tmp"))).toEqual([]);
  await tx.rollback();
  expect(treeOf(made.work)).toEqual(before);
});
