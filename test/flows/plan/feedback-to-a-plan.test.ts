/** What a person says to a plan is part of the request from then on. */
import { expect, test } from "bun:test";
import { finish, plan, write } from "../plans.ts";
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
