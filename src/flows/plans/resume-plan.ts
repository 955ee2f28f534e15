/** Carries on a plan that was approved in an interrupted run, without a planning call or a second approval. */

import { promiseOf, promiseOfSchedule } from "../../core/plan/promise.ts";
import { followSchedule } from "../eight-step.ts";
import { execute } from "../execution.ts";
import { presentApproved } from "../planning.ts";
import type { Flow } from "../run.ts";
import type { ApprovedWork } from "./plan-state.ts";

/** Asks again only about what needs a yes of its own, since the earlier approval was for their earlier content. */
export function resumePlan({ plan: saved, steps, review, corrections }: ApprovedWork): Flow {
  return async (run) => {
    run.planning.wantsReview = review;
    run.planning.corrections = corrections;
    if (steps === null) {
      const { plan, claims } = await presentApproved(run, saved, promiseOf(saved, 0));
      return execute(run, plan, claims);
    }
    const schedule = { plan: saved, steps };
    const { plan, claims } = await presentApproved(run, saved, promiseOfSchedule(schedule, 0));
    await followSchedule(run, { plan, steps }, claims);
  };
}
