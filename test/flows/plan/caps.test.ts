/** Caps: no call beyond the promise, none for a run that cannot end, none beyond the day's. */
import { describe, expect, test } from "bun:test";
import { PaiError } from "../../../src/core/error.ts";
import type { Allowance, PlannedCall, Spent } from "../../../src/core/spending/allowance.ts";
import { hybrid } from "../../../src/flows/auto.ts";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { singleShot } from "../../../src/flows/single-shot.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { finish, plan, planTo, talk, write } from "../plans.ts";
import { capOf, play, usage } from "../scripted.ts";

const create = planTo("WRITE a.txt");
const created = write("a.txt", "one\n") + finish("Made a.txt.\nNEXT: Read it");

describe("at most", () => {
  const nothing = finish("I could not.");

  test.each([
    ["simple", 2, 3],
    ["moderate", 2, 4],
    ["complex", 3, 5],
  ] as const)("%s: expected %d, at most %d, and no call more", async (complexity, expected, most) => {
    const lines = [plan({ steps: ["WRITE a.txt"], complexity }), ...Array.from({ length: most - 1 }, () => nothing)];
    const ran = await play({ lines });
    expect(ran.outcome.calls).toEqual({ made: most, expected, at_most: most });
    expect(ran.requests.length).toBe(most);
    expect([ran.outcome.code, ran.outcome.error?.code]).toEqual([8, "nothing_done"]);
    const phases = ran.eventsOf("phase.started").map(({ phase, of }) => `${phase}/${of}`);
    expect(phases).toEqual(Array.from({ length: most - 1 }, (_, n) => `${n + 1}/${Math.max(n + 1, most - 2)}`));
  });

  test("the spare repairs an unusable plan, and is then gone", async () => {
    const ran = await play({ lines: ['{"intent":"task"}', create, nothing] });
    expect(ran.purposes).toBe("plan repair execute");
    expect(ran.outcome.calls).toEqual({ made: 3, expected: 2, at_most: 3 });
    expect(ran.outcome.code).toBe(8);
    expect(ran.asked(2)).toContain("execution_plan.steps is empty");
  });

  test.each([
    ["goes on where it was cut", create.slice(400)],
    ["begins anew", create],
  ])("a cut plan costs one call when the model %s", async (_name, rest) => {
    const ran = await play({ lines: [{ text: create.slice(0, 400), stop: "length" }, rest, created] });
    expect([ran.outcome.code, ran.purposes]).toEqual([0, "plan resume execute"]);
    expect(ran.asked(2)).toStartWith("Your reply was cut");
  });

  test("after feedback no second repair eats the execution call", async () => {
    const asked = { answers: [{ feedback: "call it b.txt" }], options: { interactive: true } } as const;
    const ran = await play({ ...asked, lines: ["[]", create, "[]"] });
    expect(ran.purposes).toBe("plan repair replan");
    expect(ran.outcome).toMatchObject({ code: 7, error: { code: "reply_invalid" } });
  });

  test("an empty reply is asked for again once, out of the spare", async () => {
    const ran = await play({ lines: [create, "", created] });
    expect([ran.outcome.code, ran.purposes, ran.outcome.calls.made]).toEqual([0, "plan execute execute", 3]);
    const twice = await play({ lines: [create, "", ""] });
    expect([twice.outcome.code, twice.outcome.error?.code, twice.outcome.calls.made]).toEqual([7, "reply_empty", 3]);
  });

  test("an empty reply may not eat a phase: with the spare gone it ends the run", async () => {
    const lines = ["[]", plan({ steps: ["WRITE a.txt"], complexity: "moderate" }), ""];
    const ran = await play({ lines });
    expect([ran.outcome.code, ran.purposes]).toEqual([7, "plan repair execute"]);
  });

  test("an error of the transport is not a call", async () => {
    const down = new PaiError("network", "connection refused");
    const ran = await play({ lines: [create, { text: "", fail: down }] });
    expect([ran.outcome.code, ran.outcome.calls.made]).toEqual([5, 1]);
  });

  test.each([
    ["network", "the connection was lost"],
    ["provider_down", "overloaded"],
  ] as const)("a reply lost in its middle (%s) is asked for again once, out of the spare", async (code, message) => {
    const lost = new PaiError(code, message);
    const ran = await play({ lines: [create, { text: "WRITE::a.t", fail: lost }, created] });
    expect([ran.outcome.code, ran.purposes, ran.outcome.calls.made]).toEqual([0, "plan execute execute", 3]);
    const twice = await play({ lines: [create, { text: "W", fail: lost }, { text: "W", fail: lost }] });
    expect([twice.outcome.code, twice.outcome.calls.made]).toEqual([5, 3]);
  });

  test("a cap that prevents a needed call ends with 13, everything taken back", async () => {
    const lines = [planTo("WRITE a.txt", "WRITE b.txt"), created];
    const ran = await play({ lines, options: capOf(2) });
    expect([ran.outcome.code, ran.outcome.error?.code, ran.files]).toEqual([13, "budget_calls", {}]);
  });
});

const made = [planTo("WRITE a.txt"), write("a.txt", "1\n") + finish()];

test.each([
  ["single-shot", singleShot, 2],
  ["auto", hybrid, 2],
  ["eight-step", eightStep, 5],
  ["tool-loop", toolLoop, 1],
] as const)("%s takes at least as many calls as it needs", async (mode, flow, least) => {
  const ran = await play({ lines: made, flow, options: { mode, ...capOf(least - 1) } });
  expect(ran.outcome).toMatchObject({ code: 2, calls: { made: 0 } });
  expect(ran.outcome.error?.message).toBe(`--max-calls ${least - 1} is too few: ${mode} takes at least ${least}`);
  expect(ran.requests).toEqual([]);
  const enough = await play({ lines: [talk("Hello."), "Hello."], flow, options: { mode, ...capOf(least) } });
  expect(enough.outcome.code).toBe(0);
});

test("the hint never names the command that was called", async () => {
  const none = { options: { planOnly: true, ...capOf(0) } };
  expect((await play({ lines: made, ...none })).outcome.error).toMatchObject({
    message: "--max-calls 0 is too few: single-shot takes at least 1",
    hint: "raise it",
  });
});

test("a plan alone and a saved plan take one", async () => {
  const ran = await play({ lines: made, options: { planOnly: true, ...capOf(1) } });
  expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 1 } });
});

test("what is promised, before the plan and with it, is no more than the cap", async () => {
  const ran = await play({ lines: made, options: capOf(2) });
  expect(ran.eventsOf("model.started").map(({ at_most }) => at_most)).toEqual([2, 2]);
  expect(ran.eventsOf("plan.ready")[0]?.promise).toMatchObject({ expected: 2, at_most: 2 });
  expect(ran.outcome.calls).toEqual({ made: 2, expected: 2, at_most: 2 });
});

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
  const price = { input: 1, output: 2, cached: 1 };
  const { outcome, requests } = await play({ lines: [talk("Hello.")], allowance, price });
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
  const broken = { text: planTo().slice(0, 40), fail: new PaiError("network", "cut") };
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
  expect([outcome.error?.code, requests.length]).toEqual(["budget_cost", 0]);
  expect(settled).toEqual([{ calls: 0, tokens: 0, cost: 0 }]);
});
