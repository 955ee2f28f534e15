/** What the run knows of its plan: written by planning, its approval and the modes that choose how to work. */
import type { Json } from "../../core/model.ts";
import type { RelPath } from "../../core/path.ts";
import type { AtOnceChoice } from "../../core/plan/at-once.ts";
import type { ScheduleStep } from "../../core/plan/parse-schedule.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { roundsOf } from "../../core/plan/promise.ts";
import type { PlanCache } from "../../core/ports.ts";

/** A plan that a person approved in an earlier, interrupted run, as that run carried it out. */
export interface ApprovedWork {
  readonly plan: Plan;
  /** The schedule of eight-step; null: the plan is carried out as a whole. */
  readonly steps: readonly ScheduleStep[] | null;
  readonly review: boolean;
}

export interface PlanOptions {
  readonly mode: string;
  readonly planOnly: boolean;
  /** Only looks and an answer: a plan that changes something or runs a command is refused; absent: anything. */
  readonly asksOnly?: boolean;
  /** Whether the first answer may be the work itself; absent: never. */
  readonly atOnce?: AtOnceChoice;
  readonly approved?: ApprovedWork;
}

export interface Planning {
  readonly planOnly: boolean;
  readonly asksOnly: boolean;
  readonly atOnce: AtOnceChoice;
  readonly planCache: PlanCache | null;
  /** The prompt of this dialogue, where the first answer may be the work; null: another. */
  atOncePrompt: string | null;
  /** The mode; `auto` becomes the one that it chose. */
  mode: string;
  plan: Plan | null;
  corrections: readonly string[];
  approved: boolean;
  /** The person approved the plan and wants to see its changes before they are applied. */
  wantsReview: boolean;
  /** The diff that a person decided about with the plan; null: none. An approved one is not asked about again. */
  seenDiff: string | null;
  /** The approved schedule of eight-step; null: another mode, or not approved yet. */
  steps: readonly ScheduleStep[] | null;
  /** Results of planning calls, by the key of their input (sha256, hex); none when a person corrected the plan. */
  planned: readonly { readonly key: string; readonly made: Json }[];
  /** Rounds of looks before the plan, and how many there may be. */
  rounds: number;
  readonly maxRounds: number;
  /** A plan was sent back to the model, which happens once. */
  isMended: boolean;
  readonly linksTold: Set<string>;
  /** Paths that the plan spells in another case than the disk, with the path that is there. */
  readonly respelled: Map<string, RelPath>;
}

export function createPlanning(
  { mode, planOnly, asksOnly = false, atOnce = "never" }: PlanOptions,
  planCache: PlanCache | null,
  calls: number | null,
): Planning {
  return {
    planOnly,
    asksOnly,
    atOnce,
    atOncePrompt: null,
    planCache,
    mode,
    plan: null,
    corrections: [],
    approved: false,
    wantsReview: false,
    seenDiff: null,
    steps: null,
    planned: [],
    rounds: 0,
    maxRounds: roundsOf(mode, calls),
    isMended: false,
    linksTold: new Set(),
    respelled: new Map(),
  };
}

/** Keeps the plan of this run, and the looks before it, for a later run with the same request and files. */
export function keepPlans(planning: Readonly<Planning>): void {
  for (const { key, made } of planning.planned) planning.planCache?.save(key, made);
}
