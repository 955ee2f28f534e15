/** The promise of a run: how many calls it may make. Pure. */

import type { Schedule } from "./parse-schedule.ts";
import type { Complexity, Plan } from "./plan.ts";

/** Execution calls a plan of this complexity may take. */
export const phasesOf: Readonly<Record<Complexity, number>> = { simple: 1, moderate: 2, complex: 3 };

export interface CallPromise {
  readonly expected: number;
  readonly at_most: number;
}

const [fewRounds, manyRounds] = [2, 12];

/** Rounds of looks before a plan or an answer. `auto` may search, as far as a cap on calls leaves two for the work. */
export const roundsOf = (mode: string, cap: number | null): number =>
  mode === "auto" ? Math.min(manyRounds, Math.max(fewRounds, (cap ?? Number.POSITIVE_INFINITY) - 2)) : fewRounds;

/** What gives a run of this mode more than so many rounds of looks. */
export const moreLooks = (mode: string, rounds: number): string =>
  mode !== "auto"
    ? `--mode auto looks up to ${manyRounds} times`
    : rounds < manyRounds
      ? "--max-calls allows more"
      : "--mode tool-loop has no such limit";

/** Before the plan is known: the rounds of looks, one call to plan, one spare for repair. */
export const planPromise = (rounds: number): CallPromise => ({ expected: 1, at_most: rounds + 2 });

/** The smallest cap on calls with which a mode can finish; making or carrying out a plan alone takes one call. */
export const minCalls = (mode: string, isPlanOnly: boolean): number =>
  isPlanOnly || mode === "tool-loop" ? 1 : mode === "eight-step" ? 5 : 2;

export const complexityOf = (plan: Plan): Complexity => plan.intelligence_notes?.complexity_assessment ?? "moderate";

/** `plans`: planning calls so far, 0 for a saved or cached plan. Only `at_most` includes a spare call. */
export function promiseOf(plan: Plan, plans: number): CallPromise {
  if (plan.intent === "conversation") return { expected: Math.max(plans, 0), at_most: plans + 1 };
  const phases = phasesOf[complexityOf(plan)];
  return { expected: plans + Math.max(1, phases - 1), at_most: plans + phases + 1 };
}

/** The promise of eight-step: planning, two calls for each step and one more to heal it, the summary, one spare. */
export function promiseOfSchedule({ plan, steps }: Schedule, plans: number): CallPromise {
  if (plan.intent === "conversation") return { expected: plans, at_most: plans + 1 };
  return { expected: plans + 2 * steps.length + 1, at_most: plans + 3 * steps.length + 2 };
}
