/** single-shot: one call to plan, one to carry out the plan, more only when work is left. */

import type { Change } from "../core/change.ts";
import type { Plan } from "../core/plan/plan.ts";
import { promiseOf } from "../core/plan/promise.ts";
import { execute, executeFinished } from "./execution.ts";
import { makePlan, presentSaved, singleShotPlan } from "./planning.ts";
import { keepPlans } from "./plans/kept-plans.ts";
import type { Flow } from "./run.ts";

export const singleShot: Flow = async (run) => {
  const { plan, claims } = await makePlan(run, singleShotPlan);
  if (plan.intent === "conversation") {
    run.ending.text = plan.reply;
    return;
  }
  if (run.planning.planOnly) return;
  await execute(run, plan, claims);
  if (!run.changing.dryRun) await keepPlans(run.planning);
};

/** single-shot with a saved plan, without a planning call; with its finished `changes`, without any call. */
export function followPlan(saved: Plan, changes: readonly Change[] | null): Flow {
  return async (run) => {
    const promise = changes === null ? promiseOf(saved, 0) : { expected: 0, at_most: 0 };
    const { plan, claims } = await presentSaved(run, saved, promise);
    if (changes === null) await execute(run, plan, claims);
    else await executeFinished(run, plan, claims, changes);
  };
}
