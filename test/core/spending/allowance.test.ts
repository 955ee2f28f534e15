/** What is left of a day: no call is granted that could pass a cap. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { noUsage } from "../../../src/core/model.ts";
import * as allowance from "../../../src/core/spending/allowance.ts";

const { dayIsSpent, leftFor, maxSpent, outputWithin, replyWithin, wantOf } = allowance;
const amount = (max: number) => fc.double({ min: 0, max, noNaN: true });
const cap = (max: number) => fc.option(amount(max));

test("a granted call, with the largest reply that it may have, stays within every cap", () => {
  fc.assert(
    fc.property(
      fc.record({ calls: fc.option(fc.nat(5)), tokens: cap(5000), cost: cap(2) }),
      fc.record({ calls: fc.nat(5), tokens: amount(5000), cost: amount(2) }),
      fc.record({
        input: fc.nat(2000),
        minReply: fc.constant(256),
        maxReply: fc.integer({ min: 256, max: 8192 }),
        inputCost: amount(0.5),
        perOutput: amount(0.001),
      }),
      (caps, spent, want) => {
        const left = leftFor(want, caps, spent);
        if (typeof left === "string") return caps[left] !== null;
        const reserved = maxSpent(want, outputWithin(want, left));
        const isWithin = (name: keyof typeof spent) =>
          spent[name] + reserved[name] <= (caps[name] ?? Number.POSITIVE_INFINITY) + 1e-7;
        return reserved.tokens - want.input >= want.minReply && (["calls", "tokens", "cost"] as const).every(isWithin);
      },
    ),
  );
});

test("a reply is shortened to what the day leaves, and refused below its minimum", () => {
  const want = { input: 1000, minReply: 256, maxReply: 8192, inputCost: 0.001, perOutput: 0.00001 };
  const none = { calls: 0, tokens: 0, cost: 0 };
  expect(leftFor(want, { calls: null, tokens: 1500, cost: null }, none)).toMatchObject({ tokens: 1500 });
  expect(outputWithin(want, { tokens: 1500, cost: Number.POSITIVE_INFINITY })).toBe(500);
  expect(outputWithin(want, { tokens: Number.POSITIVE_INFINITY, cost: 0.011 })).toBe(1000);
  expect(leftFor(want, { calls: null, tokens: 1255, cost: null }, none)).toBe("tokens");
  expect(leftFor(want, { calls: null, tokens: null, cost: 0.003 }, none)).toBe("cost");
  expect(leftFor(want, { calls: 3, tokens: null, cost: null }, { ...none, calls: 3 })).toBe("calls");
});

test("what a call may cost goes by the model that makes it: a dearer one gets a shorter reply, or none", () => {
  let rate = 1e-6;
  const call = {
    input: 1000,
    promised: 1,
    minReply: 256,
    maxReply: () => 2000,
    priceOf: ({ input, output }: typeof noUsage) => input * rate + output * rate,
    signal: new AbortController().signal,
  };
  const share = { tokens: 3000, cost: 0.003 };
  expect(replyWithin(wantOf(call), share)).toBe(2000);
  rate = 2e-6;
  expect(replyWithin(wantOf(call), share)).toBe(500);
  rate = 1e-5;
  expect(() => replyWithin(wantOf(call), share)).toThrow(expect.objectContaining({ code: "budget_cost" }));
  expect(wantOf({ ...call, priceOf: () => null })).toMatchObject({ inputCost: 0, perOutput: 0 });
});

test("a refusal says what was used, of how much, and whose day it is", () => {
  expect(dayIsSpent("cost", 12.34567, 12.5, "the team")).toMatchObject({
    code: "budget_cost",
    message: "the day's budget of the team is reached: 12.3457 of 12.5 USD used or reserved today (UTC)",
    hint: "wait for tomorrow, or ask who owns the store to raise pai.caps (docs/team.md)",
  });
  expect(dayIsSpent("calls", 3, 3, "ana").hint).toBe("wait for tomorrow, or raise limits.day.calls");
});
