/** The distance of two texts, with and without swaps. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { distance } from "../../src/core/suggest.ts";

test("counts what is added, left out, replaced, and a swap as one step where swaps count", () => {
  for (const [a, b, plain, swapped] of [
    ["kitten", "sitting", 3, 3],
    ["modle", "model", 2, 1],
    ["", "abc", 3, 3],
    ["ca", "abc", 3, 3],
    ["same", "same", 0, 0],
  ] as const)
    expect([distance(a, b, { swaps: false }), distance(a, b, { swaps: true })]).toEqual([plain, swapped]);
});

test("is the same in both directions, and never more than the longer text", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), fc.boolean(), (a, b, swaps) => {
      const steps = distance(a, b, { swaps });
      expect(steps).toBe(distance(b, a, { swaps }));
      expect(steps).toBeLessThanOrEqual(Math.max(a.length, b.length));
      expect(steps).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
    }),
  );
});
