/** The words that an editor shows. */
import { expect, test } from "bun:test";
import { renderEnd, renderPromise } from "../../src/acp/face.ts";
import { planOf } from "../flows/plans.ts";
import { outcome } from "../ui/fixture.ts";

test("one call is a call, two are calls", () => {
  const plan = planOf({ steps: ["WRITE a.txt"] });
  const said = (expected: number) =>
    renderPromise(plan, { expected, at_most: 2, tokens: null, cost: null }, plan.reply);
  expect(said(1)).toContain("1 step. Expected 1 model call, at most 2.");
  expect(said(2)).toContain("Expected 2 model calls, at most 2.");
});

test("where the checks never settle, the end names what changed", () => {
  const ended = { ...outcome, status: "unverified", unsettled: ["a.py"], checks: outcome.checks.slice(0, 1) } as const;
  expect(renderEnd(ended, "")).toContain("unverified: a.py changed each time the check ran. ");
});
