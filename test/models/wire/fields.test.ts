/** What a server says is read as what it can be. */
import { expect, test } from "bun:test";
import { count } from "../../../src/models/wire/fields.ts";

test("a count of tokens is a whole number that a request can have; anything else is 0", () => {
  expect([12, 12.7, 1e9].map(count)).toEqual([12, 12, 1e9]);
  expect([1e308, 1e9 + 1, -1, Number.NaN, Number.POSITIVE_INFINITY, "7", null].map(count)).toEqual([
    0, 0, 0, 0, 0, 0, 0,
  ]);
});
