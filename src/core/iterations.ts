/** A schedule: the iterations of eight-step and the plan they stand for. Pure, and without the parser of what models write. */
import type { Plan } from "./plan-type.ts";

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

/** What a run goes by may also be a plan of single-shot (`--mode auto`): its steps are grouped into iterations. */
export function scheduleOf(plan: Plan): Schedule {
  const steps = (plan.execution_plan?.steps ?? []).filter(({ action }) => action !== "FINISH");
  const told = steps.map(({ action, target, purpose }) => ({ title: `${action} ${target}`, hint: purpose }));
  return { plan, steps: joinSurplus(told) };
}

/** At most as many steps as there are iterations: what is more joins the last. */
export function joinSurplus(steps: readonly ScheduleStep[]): readonly ScheduleStep[] {
  const last = steps.slice(mostIterations - 1);
  if (last.length < 2) return steps;
  const joined = { title: last.map(({ title }) => title).join("; "), hint: last.map(({ hint }) => hint).join("; ") };
  return [...steps.slice(0, mostIterations - 1), joined];
}
