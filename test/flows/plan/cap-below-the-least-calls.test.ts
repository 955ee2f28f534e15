/** A cap on calls with which a run could never end is refused before the first; the promise is never more than the cap. */
import { expect, test } from "bun:test";
import { hybrid } from "../../../src/flows/auto.ts";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { singleShot } from "../../../src/flows/single-shot.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { finish, plan, talk, write } from "../plans.ts";
import { play } from "../scripted.ts";

const made = [plan({ steps: ["WRITE a.txt"] }), write("a.txt", "1\n") + finish()];
const capped = (calls: number) => ({ caps: { calls, tokens: null, cost: null } });

test.each([
  ["single-shot", singleShot, 2],
  ["auto", hybrid, 2],
  ["eight-step", eightStep, 5],
  ["tool-loop", toolLoop, 1],
] as const)("%s takes at least as many calls as it needs", async (mode, flow, least) => {
  const ran = await play({ lines: made, flow, options: { mode, ...capped(least - 1) } });
  expect(ran.outcome).toMatchObject({ code: 2, calls: { made: 0 } });
  expect(ran.outcome.error?.message).toBe(`--max-calls ${least - 1} is too few: ${mode} takes at least ${least}`);
  expect(ran.requests).toEqual([]);
  const enough = await play({ lines: [talk("Hello."), "Hello."], flow, options: { mode, ...capped(least) } });
  expect(enough.outcome.code).toBe(0);
});

test("the hint never names the command that was called", async () => {
  const none = { options: { planOnly: true, ...capped(0) } };
  expect((await play({ lines: made, ...none })).outcome.error).toMatchObject({
    message: "--max-calls 0 is too few: single-shot takes at least 1",
    hint: "raise it",
  });
  const whole = await play({ lines: made, options: capped(1) });
  expect(whole.outcome.error?.hint).toContain("pai plan");
});

test("a plan alone and a saved plan take one", async () => {
  const ran = await play({ lines: made, options: { planOnly: true, ...capped(1) } });
  expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 1 } });
});

test("what is promised, before the plan and with it, is no more than the cap", async () => {
  const ran = await play({ lines: made, options: capped(2) });
  expect(ran.eventsOf("model.started").map(({ at_most }) => at_most)).toEqual([2, 2]);
  expect(ran.eventsOf("plan.ready")[0]?.promise).toMatchObject({ expected: 2, at_most: 2 });
  expect(ran.outcome.calls).toEqual({ made: 2, expected: 2, at_most: 2 });
});
