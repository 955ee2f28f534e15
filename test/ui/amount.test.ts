/** Numbers as people read them, the same everywhere. */
import { expect, test } from "bun:test";
import { counted, grouped, priced, renderDuration } from "../../src/ui/amount.ts";

test("thousands are grouped in every number, whatever its length", () => {
  expect([0, 999, 1000, 12_345, 1_234_567].map(grouped)).toEqual(["0", "999", "1,000", "12,345", "1,234,567"]);
  expect([counted(1, "call"), counted(2000, "call")]).toEqual(["1 call", "2,000 calls"]);
});

test("times and prices keep the digits that matter; an unknown price is not zero", () => {
  expect([400, 12_000, 125_000].map(renderDuration)).toEqual(["0.4 s", "12 s", "2 min 5 s"]);
  expect([null, 0, 0.0012, 1.5].map(priced)).toEqual(["price unknown", "$0.00", "$0.0012", "$1.50"]);
  expect(priced(0.000036)).toBe("$0.000036");
});
