/** The plan as a type; `parse-plan.ts` reads it, `reply-schemas.ts` describes it to the model. */

import { isLook, type PlanAction, rowOf } from "../vocabulary.ts";

export type Complexity = "simple" | "moderate" | "complex";

export interface PlanStep {
  readonly step_number: number;
  readonly action: PlanAction;
  readonly target: string;
  readonly destination: string | null;
  readonly purpose: string;
  readonly depends_on: readonly number[];
  readonly expected_outcome: string;
}

export interface Plan {
  /** `look`: the steps are looks only, and another plan follows their results. */
  readonly intent: "conversation" | "look" | "task";
  readonly reply: string;
  readonly analysis: {
    readonly user_intent: string;
    readonly target_identification: string;
    readonly files_to_read: readonly string[];
    readonly files_to_create: readonly string[];
    readonly files_to_modify: readonly string[];
    readonly files_to_delete: readonly string[];
    readonly risk_assessment: string;
    readonly success_criteria: readonly string[];
  } | null;
  readonly execution_plan: {
    readonly steps: readonly PlanStep[];
    readonly checks: readonly string[];
    readonly fallback_strategies: readonly string[];
  } | null;
  readonly intelligence_notes: {
    readonly complexity_assessment: Complexity;
    readonly estimated_time: string;
    readonly key_challenges: readonly string[];
    readonly recommendations: readonly string[];
  } | null;
}

/** The steps of a plan without FINISH. */
export const workOf = (plan: Plan): readonly PlanStep[] =>
  (plan.execution_plan?.steps ?? []).filter(({ action }) => rowOf(action)?.kind !== "finish");

/** Sets the intent by the steps: `look` (another plan follows) when all of them only look, else `task`. */
export function settleIntent(plan: Plan): Plan {
  const steps = workOf(plan);
  if (plan.intent === "conversation" || steps.length === 0) return plan;
  return { ...plan, intent: steps.every(({ action }) => isLook(action)) ? "look" : "task" };
}
