/** What a run has cost: cached tokens once, the dearer rate of large calls, and unknown when it is. */
import { describe, expect, test } from "bun:test";
import type { Price } from "../../../src/core/spending/cost.ts";
import { createLedger } from "../../../src/flows/ledger.ts";
import { call, playLoop } from "../loop.ts";
import type { Line } from "../scripted.ts";

const promise = { expected: 2, at_most: 5 };
const none = { calls: null, tokens: null, cost: null };
const done = { served: "m", key: null };
const usage = (input: number, cached = 0, output = 0) => ({ input, cached, output, thought: 0 });
const price: Price = { input: 1, cached: 0.1, output: 4 };

describe("cost", () => {
  test("counts cached tokens once, at their own price", () => {
    const ledger = createLedger(none, () => price, promise);
    ledger.spend(usage(1_000_000, 400_000, 100_000), done, { estimate: 0 });
    expect(ledger.cost).toBeCloseTo(0.6 + 0.04 + 0.4, 9);
  });

  test("has no tail of binary fractions, however many calls it is the sum of", () => {
    const ledger = createLedger(none, () => ({ input: 0.1, cached: 0.01, output: 0.4 }), promise);
    for (const input of [1713, 1166, 733, 91]) ledger.spend(usage(input, 0, 3), done, { estimate: 0 });
    expect(String(ledger.cost)).toBe("0.0003751");
  });

  test("counts what was written to the cache once, at its own price or as input", () => {
    const used = { ...usage(1_000_000, 400_000), written: 500_000 };
    const dear = createLedger(none, () => ({ ...price, written: 1.25 }), promise);
    dear.spend(used, done, { estimate: 0 });
    dear.spend(used, done, { estimate: 0 });
    expect(dear.cost).toBeCloseTo(2 * (0.1 + 0.04 + 0.625), 9);
    expect(dear.usage).toEqual({ ...usage(2_000_000, 800_000), written: 1_000_000 });
    const plain = createLedger(none, () => price, promise);
    plain.spend(used, done, { estimate: 0 });
    expect(plain.cost).toBeCloseTo(0.6 + 0.04, 9);
  });

  test("judges every call by its own size: two small ones never cost like a large one", () => {
    const large = { input: 2, cached: 0.2, output: 8, above: 200_000 };
    const ledger = createLedger(none, () => ({ ...price, large }), promise);
    ledger.spend(usage(150_000), done, { estimate: 0 });
    ledger.spend(usage(150_000), done, { estimate: 0 });
    expect(ledger.cost).toBeCloseTo(0.3, 9);
    ledger.spend(usage(300_000, 0, 1_000_000), done, { estimate: 0 });
    expect(ledger.cost).toBeCloseTo(0.3 + 0.6 + 8, 9);
  });

  test("follows the model in use, and is unknown once one of them was", () => {
    let now: Price | null = price;
    const ledger = createLedger(none, () => now, promise);
    ledger.spend(usage(1_000_000), { served: "a", key: null }, { estimate: 0 });
    now = { input: 3, cached: 3, output: 3 };
    ledger.spend(usage(1_000_000), { served: "b", key: null }, { estimate: 0 });
    expect(ledger.cost).toBe(4);
    now = null;
    ledger.spend(usage(1), { served: "c", key: null }, { estimate: 0 });
    expect(ledger.cost).toBeNull();
    expect(ledger.served).toEqual(["a", "b", "c"]);
  });

  test("is what the provider says it charged, also of a model without a known price", () => {
    const ledger = createLedger(none, () => null, promise);
    expect(ledger.cost).toBeNull();
    for (const charged of [0.0125, 0.005]) {
      ledger.count();
      ledger.spend(usage(1000), { served: "m", key: null, charged }, { estimate: 0 });
    }
    expect(ledger.cost).toBe(0.0175);
    ledger.count();
    ledger.spend(usage(1000), done, { estimate: 0 });
    expect(ledger.cost).toBeNull();
    const known = createLedger(none, () => price, promise);
    known.spend(usage(1_000_000), { served: "m", key: null, charged: 0.5 }, { estimate: 0 });
    expect(known.cost).toBe(0.5);
  });

  test("a cap without a price is a usage error, a call beyond it is refused before it is sent", () => {
    expect(() => createLedger({ ...none, cost: 1 }, () => null, promise)).toThrow(
      expect.objectContaining({ code: "usage" }),
    );
    const ledger = createLedger({ ...none, cost: 1 }, () => price, promise);
    ledger.admit(900_000);
    ledger.spend(usage(500_000), done, { estimate: 500_000 });
    expect(() => ledger.admit(600_000)).toThrow(expect.objectContaining({ code: "budget_cost" }));
  });
});

test("one call more than promised, and tokens that would not fit, are refused before they are sent", () => {
  const ledger = createLedger({ ...none, tokens: 1000 }, () => null, { expected: 1, at_most: 2 });
  ledger.admit(1000);
  expect(() => ledger.admit(1001)).toThrow(expect.objectContaining({ code: "budget_tokens" }));
  ledger.count();
  ledger.spend(usage(300, 0, 100), done, { estimate: 0 });
  ledger.admit(600);
  expect(() => ledger.admit(601)).toThrow(expect.objectContaining({ code: "budget_tokens" }));
  ledger.count();
  expect(() => ledger.admit(1)).toThrow(expect.objectContaining({ code: "budget_calls" }));
});

test("the caps leave room for a reply to the dearest reading of what is asked", () => {
  const rate = { ...price, written: 2 };
  expect(createLedger(none, () => rate, promise).room(1000)).toBe(Number.POSITIVE_INFINITY);
  const ledger = createLedger({ ...none, tokens: 10_000, cost: 0.01 }, () => rate, promise);
  expect(ledger.room(1000)).toBe((0.01 * 1e6 - 2000) / 4);
  expect(ledger.room(9_990)).toBeLessThan(0);
  expect(createLedger({ ...none, tokens: 10_000 }, () => null, promise).room(1000)).toBe(9000);
  expect(() => ledger.admit(5001)).toThrow(expect.objectContaining({ code: "budget_cost" }));
  ledger.admit(1000, 2000);
  expect(() => ledger.admit(1000, 2001)).toThrow(expect.objectContaining({ code: "budget_cost" }));
  const tokens = createLedger({ ...none, tokens: 10_000 }, () => null, promise);
  tokens.admit(9000, 1000);
  expect(() => tokens.admit(9000, 1001)).toThrow(expect.objectContaining({ code: "budget_tokens" }));
});

describe("a provider that counts too little", () => {
  test("teaches the estimate no more than text can be: 1.5 to 8 characters a token", () => {
    const learned = (told: number) => {
      const ledger = createLedger(none, () => null, promise);
      for (let n = 0; n < 20; n += 1) ledger.spend(usage(told), done, { estimate: 1000 });
      return ledger.estimate(24_000);
    };
    expect([learned(1), learned(1_000_000)]).toEqual([3000, 16_000]);
  });

  // F18: 50 calls and fifteen times the cap.
  test("does not carry a run past its caps", async () => {
    const files = { "a.txt": "some words of a line\n".repeat(200) };
    const told = { input: 1, cached: 0, output: 1, thought: 0 };
    const read = (from: number): Line => ({ text: "", calls: [call("read", { path: "a.txt", from })], usage: told });
    const lines = Array.from({ length: 50 }, (_, n) => read(n + 1));
    const caps = { calls: null, tokens: 9000, cost: null };
    const ran = await playLoop(lines, { files, options: { caps } });
    expect(ran.outcome.code).toBe(13);
    const sent = ran.requests.map(({ system, messages, tools }) => JSON.stringify([system, messages, tools]).length);
    expect(sent.reduce((sum, characters) => sum + characters, 0) / 8).toBeLessThan(9000 * 1.2);
  });
});
