/** A schedule: the iterations of eight-step and the plan they stand for. Pure, and without the parser of what models write. */
import type { Plan, PlanStep } from "./plan-type.ts";
import { rightOf } from "./scope.ts";

/** Iterations a run may take; further steps join the last. */
export const mostIterations = 5;

export interface ScheduleStep {
  readonly title: string;
  readonly hint: string;
}

/** A schedule and the plan it stands for: its scope as steps, so that rights, approval and undo are the plan's. */
export interface Schedule {
  readonly plan: Plan;
  readonly steps: readonly ScheduleStep[];
}

/**
 * What a run goes by may also be a plan of single-shot (`--mode auto`): its steps are grouped into iterations. Looks are
 * none of their own, since they are done beforehand; where there is nothing else they are one.
 */
export function scheduleOf(plan: Plan): Schedule {
  const steps = (plan.execution_plan?.steps ?? []).filter(({ action }) => action !== "FINISH");
  const told = ({ action, target, purpose }: PlanStep) => ({ title: `${action} ${target}`, hint: purpose });
  const work = steps.filter(({ action }) => rightOf(action) !== null);
  return { plan, steps: work.length === 0 ? joinFrom(0, steps.map(told)) : joinSurplus(work.map(told)) };
}

/** At most as many steps as there are iterations: what is more joins the last. */
export const joinSurplus = (steps: readonly ScheduleStep[]) => joinFrom(mostIterations - 1, steps);

function joinFrom(at: number, steps: readonly ScheduleStep[]): readonly ScheduleStep[] {
  const last = steps.slice(at);
  if (last.length < 2) return steps;
  const joined = {
    title: last.map(({ title }) => title).join("; "),
    hint: last.flatMap(({ hint }) => hint || []).join("; "),
  };
  return [...steps.slice(0, at), joined];
}
