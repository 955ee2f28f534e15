/** The plan as a type; `parse-plan.ts` reads it, `describe-plan.ts` describes it to the model. */

export const planActions = [
  "READ",
  "SEARCH",
  "GLOB",
  "TREE",
  "LIST_PATH",
  "MAP_ROOT",
  "SNIFF_LOGS",
  "WRITE",
  "MODIFY",
  "MKDIR",
  "TOUCH",
  "RM",
  "MV",
  "RUN",
  "DIAGNOSE",
  "PROFILE",
  "FINISH",
] as const;

export type PlanAction = (typeof planActions)[number];
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
  readonly intent: "conversation" | "task";
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
