/** Modes that choose how to work: `--mode auto` by the plan's complexity, a plan that was approved in an interrupted run as that run did. */

import { scheduleOf } from "../core/plan/parse-schedule.ts";
import type { Plan } from "../core/plan/plan.ts";
import { complexityOf, promiseOf, promiseOfSchedule } from "../core/plan/promise.ts";
import { followSchedule } from "./eight-step.ts";
import { makePlan, type PlanKind, presentSaved, singleShotPlan } from "./planning.ts";
import type { ApprovedWork } from "./plans/plan-state.ts";
import type { Flow } from "./run.ts";
import { execute, followMade } from "./single-shot.ts";

const isThorough = (plan: Plan) => plan.intent === "task" && complexityOf(plan) === "complex";

const hybridPlan: PlanKind<Plan> = {
  ...singleShotPlan,
  promise: (plan, plans) => (isThorough(plan) ? promiseOfSchedule(scheduleOf(plan), plans) : promiseOf(plan, plans)),
};

export const hybrid: Flow = async (run) => {
  const made = await makePlan(run, hybridPlan);
  const { plan, claims } = made;
  run.planning.mode = isThorough(plan) ? "eight-step" : "single-shot";
  if (!isThorough(plan)) return followMade(run, made);
  const text = "the plan is complex: each of its steps is done and judged by itself";
  run.emit({ type: "notice", level: "info", code: "mode_chosen", text });
  if (run.planning.planOnly) return;
  await followSchedule(run, scheduleOf(plan), claims);
};

/** Asks again only about what needs a yes of its own, since the earlier approval was for their earlier content. */
export const resumePlan =
  ({ plan: saved, steps, review }: ApprovedWork): Flow =>
  async (run) => {
    run.planning.wantsReview = review;
    const promise = steps === null ? promiseOf(saved, 0) : promiseOfSchedule({ plan: saved, steps }, 0);
    const { plan, claims } = await presentSaved(run, saved, promise, true);
    await (steps === null ? execute(run, plan, claims) : followSchedule(run, { plan, steps }, claims));
  };
