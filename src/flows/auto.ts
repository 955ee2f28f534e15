/** `--mode auto`: the plan's complexity chooses between single-shot and eight-step; a notice says which. */

import type { Plan } from "../core/plan/plan.ts";
import { complexityOf, promiseOf, promiseOfSchedule } from "../core/plan/promise.ts";
import { scheduleOf } from "../core/plan/schedule.ts";
import { followSchedule } from "./eight-step.ts";
import { execute } from "./execution.ts";
import { makePlan, singleShotPlan } from "./planning.ts";
import type { PlanKind } from "./plans/find-plan.ts";
import type { Flow } from "./run.ts";

const isThorough = (plan: Plan) => plan.intent === "task" && complexityOf(plan) === "complex";

/** The plan of single-shot, with the promise of the mode that it leads to. */
const hybridPlan: PlanKind<Plan> = {
  ...singleShotPlan,
  promise: (plan, plans) => (isThorough(plan) ? promiseOfSchedule(scheduleOf(plan), plans) : promiseOf(plan, plans)),
};

export const hybrid: Flow = async (run) => {
  const { plan, claims } = await makePlan(run, hybridPlan);
  run.planning.mode = isThorough(plan) ? "eight-step" : "single-shot";
  if (plan.intent === "conversation") {
    run.ending.text = plan.reply;
    return;
  }
  const text = `the plan is ${complexityOf(plan)}: working ${run.planning.mode}`;
  run.emit({ type: "notice", level: "info", code: "mode_chosen", text });
  if (run.planning.planOnly) return;
  if (!isThorough(plan)) return execute(run, plan, claims);
  await followSchedule(run, scheduleOf(plan), claims);
};
