/** What the run knows of its plan: written by planning, its approval and the modes that choose how to work. */
import type { Json } from "../../core/model.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { ScheduleStep } from "../../core/plan/schedule.ts";
import type { PlanCache } from "../../core/ports.ts";

/** A plan that a person approved in an earlier, interrupted run, as that run carried it out. */
export interface ApprovedWork {
  readonly plan: Plan;
  /** The schedule of eight-step; null: the plan is carried out as a whole. */
  readonly steps: readonly ScheduleStep[] | null;
  /** The person wanted to see the changes before they are applied. */
  readonly review: boolean;
  /** The person's feedback to earlier plans. */
  readonly corrections: readonly string[];
}

export interface PlanOptions {
  readonly mode: string;
  /** Stop after the plan. */
  readonly planOnly: boolean;
  /** Only looks and an answer: a plan that changes something or runs a command is refused; absent: anything. */
  readonly asksOnly?: boolean;
  /** Carry on this work instead of planning; absent: plan. */
  readonly approved?: ApprovedWork;
}

export interface Planning {
  readonly planOnly: boolean;
  readonly asksOnly: boolean;
  readonly planCache: PlanCache | null;
  /** The mode; `auto` becomes the one that it chose. */
  mode: string;
  plan: Plan | null;
  /** The user's feedback to earlier plans. */
  corrections: readonly string[];
  /** The plan was approved. */
  approved: boolean;
  /** The person approved the plan and wants to see its changes before they are applied. */
  wantsReview: boolean;
  /** The approved schedule of eight-step; null: another mode, or not approved yet. */
  steps: readonly ScheduleStep[] | null;
  /** Results of planning calls, by the key of their input (sha256, hex); none when a person corrected the plan. */
  planned: readonly { readonly key: string; readonly made: Json }[];
  /** Rounds of looks before the plan. */
  rounds: number;
  /** A plan was sent back to the model, which happens once. */
  isMended: boolean;
  /** Links that a notice told of. */
  readonly linksTold: Set<string>;
}

export function createPlanning(
  { mode, planOnly, asksOnly = false }: PlanOptions,
  planCache: PlanCache | null,
): Planning {
  return {
    planOnly,
    asksOnly,
    planCache,
    mode,
    plan: null,
    corrections: [],
    approved: false,
    wantsReview: false,
    steps: null,
    planned: [],
    rounds: 0,
    isMended: false,
    linksTold: new Set(),
  };
}
