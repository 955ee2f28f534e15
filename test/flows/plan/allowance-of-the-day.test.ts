/** A run and what the day still allows: each call takes its share before it is made, and pays what it came to. */
import { expect, test } from "bun:test";
import { PaiError } from "../../../src/core/error.ts";
import type { Allowance, PlannedCall, Spent } from "../../../src/core/spending/allowance.ts";
import { plan, talk } from "../plans.ts";
import { play, usage } from "../scripted.ts";

/** Counts what is reserved and settled; refuses after so many calls. */
function openDay(calls: number, reply = 8192) {
  const day = { planned: [] as PlannedCall[], settled: [] as Spent[] };
  const allowance: Allowance = {
    async reserve(call) {
      if (day.planned.length >= calls) throw new PaiError("budget_cost", "the day's budget is reached");
      day.planned.push(call);
      return { reply: () => Math.min(call.maxReply(), reply), settle: (spent) => day.settled.push(spent) };
    },
  };
  return { ...day, allowance };
}

test("every call reserves before it is made and settles what it cost", async () => {
  const { allowance, planned, settled } = openDay(9, 777);
  const { outcome, requests } = await play({
    lines: [talk("Hello.")],
    allowance,
    price: { input: 1, output: 2, cached: 1 },
  });
  expect([outcome.status, requests.length, planned.length]).toEqual(["answered", 1, 1]);
  expect(requests[0]?.maxOutputTokens).toBe(777);
  expect(planned[0]?.input).toBeGreaterThan(100);
  const [spent] = settled;
  expect(spent?.calls).toBe(1);
  expect(spent?.tokens).toBeGreaterThanOrEqual(usage.input + usage.output);
  expect(spent?.cost).toBeGreaterThan(0);
});

test("a day that is used up ends the run with 13 before anything is sent", async () => {
  const { allowance, settled } = openDay(0);
  const { outcome, requests } = await play({ lines: [], allowance });
  expect([outcome.code, outcome.error?.code, requests.length, settled.length]).toEqual([13, "budget_cost", 0, 0]);
});

test("a call that fails before its reply gives all of its share back", async () => {
  const { allowance, planned, settled } = openDay(9);
  const { outcome } = await play({ lines: [{ text: "", fail: new PaiError("network", "no way there") }], allowance });
  expect(outcome.code).toBe(5);
  expect(settled).toEqual(planned.map(() => ({ calls: 0, tokens: 0, cost: 0 })));
  expect(planned.length).toBeGreaterThan(0);
});

test("a reply that breaks off is paid for", async () => {
  const { allowance, settled } = openDay(1);
  const broken = { text: plan({ steps: [] }).slice(0, 40), fail: new PaiError("network", "cut") };
  await play({ lines: [broken], allowance });
  expect(settled[0]).toMatchObject({ calls: 1 });
  expect(settled[0]?.tokens).toBeGreaterThan(100);
});

test("a share that a cap of the run makes too small is given back unused", async () => {
  const settled: Spent[] = [];
  const allowance: Allowance = {
    reserve: async () => ({
      reply: () => {
        throw new PaiError("budget_cost", "too dear");
      },
      settle: (spent) => settled.push(spent),
    }),
  };
  const { outcome, requests } = await play({ lines: [], allowance });
  expect([outcome.error?.code, requests.length, settled]).toEqual([
    "budget_cost",
    0,
    [{ calls: 0, tokens: 0, cost: 0 }],
  ]);
});
