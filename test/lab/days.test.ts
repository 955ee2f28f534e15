/** Caps of a day on one machine: processes that call at once never overspend. */
import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { PlannedCall, SpendCaps } from "../../src/core/spending/allowance.ts";
import { openMachineAllowance } from "../../src/lab/team/allowance.ts";
import { openDayLedger } from "../../src/lab/team/day-ledger.ts";
import { makeFolder } from "../store/temp-home.ts";

const none: SpendCaps = { calls: null, tokens: null, cost: null };
/** 1 USD a million tokens, at the most 1,000 tokens and 0.001 USD a call. */
const call: PlannedCall = {
  input: 400,
  promised: 1,
  minReply: 100,
  maxReply: () => 600,
  priceOf: ({ input, output }) => (input + output) / 1e6,
  signal: new AbortController().signal,
};
const paid = (tokens: number) => ({ calls: 1, tokens, cost: tokens / 1e6 });
const today = new Date();

test("eight processes at once never pass the cap", async () => {
  const file = join(makeFolder(), "state", "days.sqlite");
  const cap = 40_000;
  const script = join(import.meta.dir, "day-ledger.ts");
  const children = Array.from({ length: 8 }, () =>
    Bun.spawn([process.execPath, script, file, "50", String(cap)], { stdout: "pipe", stderr: "pipe" }),
  );
  const spent = await Promise.all(
    children.map(async (child) => {
      const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      expect(err).toBe("");
      return Number(out);
    }),
  );
  const sum = spent.reduce((all, one) => all + one, 0);
  expect(sum).toBeLessThanOrEqual(cap);
  expect(sum).toBeGreaterThan(cap - 500);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("the next day begins anew, and what was reserved is given back when it is settled", async () => {
  let now = new Date("2026-11-22T23:59:59Z");
  const ledger = openDayLedger(join(makeFolder(), "days.sqlite"));
  const day = openMachineAllowance(ledger, { ...none, calls: 2, tokens: 2000 }, () => now);
  const [first, second] = [await day.reserve(call), await day.reserve(call)];
  await expect(day.reserve(call)).rejects.toMatchObject({
    code: "budget_calls",
    message: expect.stringContaining("this machine"),
  });
  first.settle({ calls: 0, tokens: 0, cost: 0 });
  first.settle({ calls: 0, tokens: 0, cost: 0 });
  second.settle(paid(900));
  expect((await day.reserve(call)).reply()).toBe(600);
  await expect(day.reserve(call)).rejects.toMatchObject({ code: "budget_calls" });
  now = new Date("2026-11-23T00:00:01Z");
  expect((await day.reserve(call)).reply()).toBe(600);
  ledger.close();
});

test("a reply gets what is left, and a price that is reached refuses", async () => {
  const ledger = openDayLedger(join(makeFolder(), "days.sqlite"));
  const day = openMachineAllowance(ledger, { ...none, cost: 0.0017 }, () => today);
  expect((await day.reserve(call)).reply()).toBe(600);
  expect((await day.reserve(call)).reply()).toBe(300);
  await expect(day.reserve(call)).rejects.toMatchObject({
    code: "budget_cost",
    hint: expect.stringContaining("limits.day.cost"),
  });
  ledger.close();
});
