/** A schedule: the steps of eight-step and the plan made from them. Pure; parse-schedule.ts reads what models write. */

import { rowOf } from "../vocabulary.ts";
import { type Plan, type PlanStep, workOf } from "./plan.ts";

/** The most steps that a run works on one by one. */
const maxIterations = 5;

export interface ScheduleStep {
  readonly title: string;
  readonly hint: string;
}

/** A schedule, and a plan with its scope as steps, so that rights, approval and undo work as for any plan. */
export interface Schedule {
  readonly plan: Plan;
  readonly steps: readonly ScheduleStep[];
}

/**
 * The schedule for a plan that single-shot made (`--mode auto`): one step for each action that needs a right. Looks are
 * done beforehand, so they are not steps; a plan with nothing but looks is one step.
 */
export function scheduleOf(plan: Plan): Schedule {
  const steps = workOf(plan);
  const toStep = ({ action, target, purpose }: PlanStep) => ({ title: `${action} ${target}`, hint: purpose });
  const work = steps.filter(({ action }) => rowOf(action)?.right !== null);
  return { plan, steps: work.length === 0 ? joinFrom(0, steps.map(toStep)) : joinSurplus(work.map(toStep)) };
}

/** The steps, at most `maxIterations`: further steps are joined to the last. */
export const joinSurplus = (steps: readonly ScheduleStep[]) => joinFrom(maxIterations - 1, steps);

function joinFrom(at: number, steps: readonly ScheduleStep[]): readonly ScheduleStep[] {
  const last = steps.slice(at);
  if (last.length < 2) return steps;
  const joined = {
    title: last.map(({ title }) => title).join("; "),
    hint: last.flatMap(({ hint }) => hint || []).join("; "),
  };
  return [...steps.slice(0, at), joined];
}
