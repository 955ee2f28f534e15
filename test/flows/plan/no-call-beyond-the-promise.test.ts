/** The promise is kept whatever the model does: one spare call for the run, and no call beyond. */
import { describe, expect, test } from "bun:test";
import { PaiError } from "../../../src/core/error.ts";
import { finish, plan, write } from "../plans.ts";
import { play } from "../scripted.ts";

const create = plan({ steps: ["WRITE a.txt"] });
const created = write("a.txt", "one\n") + finish("Made a.txt.\nNEXT: Read it");

describe("at most", () => {
  const nothing = finish("I could not.");

  test.each([
    ["simple", 2, 3],
    ["moderate", 2, 4],
    ["complex", 3, 5],
  ] as const)(
    "%s: expected %d, at most %d, and not one call more however the model fails",
    async (complexity, expected, most) => {
      const lines = [plan({ steps: ["WRITE a.txt"], complexity }), ...Array.from({ length: most - 1 }, () => nothing)];
      const ran = await play({ lines });
      expect(ran.outcome.calls).toEqual({ made: most, expected, at_most: most });
      expect(ran.requests.length).toBe(most);
      expect([ran.outcome.code, ran.outcome.error?.code]).toEqual([8, "nothing_done"]);
      expect(
        ran
          .eventsOf("phase.started")
          .map(({ phase, of }) => `${phase}/${of}`)
          .join(" "),
      ).toBe(Array.from({ length: most - 1 }, (_, n) => `${n + 1}/${Math.max(n + 1, most - 2)}`).join(" "));
    },
  );

  test("the spare repairs an unusable plan, and is then gone", async () => {
    const ran = await play({ lines: ['{"intent":"task"}', create, nothing] });
    expect(ran.purposes).toBe("plan repair execute");
    expect(ran.outcome.calls).toEqual({ made: 3, expected: 2, at_most: 3 });
    expect(ran.outcome.code).toBe(8);
    expect(ran.asked(2)).toContain("execution_plan.steps is empty");
  });

  test.each([
    ["goes on where it was cut", create.slice(400)],
    ["goes on in a fence", `\`\`\`json\n${create.slice(400)}\n\`\`\``],
    ["begins anew", create],
  ])("a cut plan costs one call when the model %s", async (_name, rest) => {
    const ran = await play({ lines: [{ text: create.slice(0, 400), stop: "length" }, rest, created] });
    expect([ran.outcome.code, ran.purposes]).toEqual([0, "plan resume execute"]);
    expect(ran.asked(2)).toStartWith("Your reply was cut");
  });

  test("after feedback no second repair eats the execution call", async () => {
    const ran = await play({
      answers: [{ feedback: "call it b.txt" }],
      options: { interactive: true },
      lines: ["[]", create, "[]"],
    });
    expect([ran.purposes, ran.outcome.code, ran.outcome.error?.code]).toEqual([
      "plan repair replan",
      7,
      "reply_invalid",
    ]);
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
    const lines = [plan({ steps: ["WRITE a.txt", "WRITE b.txt"] }), created];
    const ran = await play({ lines, options: { caps: { calls: 2, tokens: null, cost: null } } });
    expect([ran.outcome.code, ran.outcome.error?.code, ran.files]).toEqual([13, "budget_calls", {}]);
  });
});
