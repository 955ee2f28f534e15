/** What a person says to a plan is part of the request from then on. */
import { expect, test } from "bun:test";
import { resumePlan } from "../../../src/flows/auto.ts";
import { finish, plan, planOf, write } from "../plans.ts";
import { openCache, play } from "../scripted.ts";

test("a correction of the plan reaches the calls that do the work; that plan is not kept for later", async () => {
  const planCache = openCache();
  const create = plan({ steps: ["WRITE a.txt"] });
  const ran = await play({
    planCache,
    task: "greet",
    answers: [{ feedback: "in French" }, { feedback: "and short" }, "yes"],
    options: { interactive: true },
    lines: [create, create, create, write("a.txt", "salut\n") + finish()],
  });
  for (const said of ["Request: greet", "Change the plan: in French", "Change the plan: and short"])
    expect(ran.told(4)).toContain(said);
  expect([ran.outcome.code, planCache.saved.size]).toEqual([0, 0]);
});

test("a plan that is carried on after an interrupt is worked with what the person had corrected", async () => {
  const approved = { plan: planOf({ steps: ["WRITE a.txt"] }), steps: null, review: false, corrections: ["in French"] };
  const ran = await play({
    task: "greet",
    flow: resumePlan(approved),
    answers: "yes",
    options: { interactive: true },
    lines: [write("a.txt", "salut\n") + finish()],
  });
  expect(ran.told(1)).toContain("in French");
  expect(ran.outcome).toMatchObject({ code: 0, corrections: [{ about: "plan", words: "in French" }] });
});
