/** The actions of the model: which it has, what came of them, and what it got beyond its plan. */
import type { Amendment } from "../core/outcome.ts";
import type { AnyAction } from "../core/proposal.ts";
import { createTally, type Tally } from "./tally.ts";

export interface ActionOptions {
  /** How many actions one reply may hold (PAI_MAX_CMDS_PER_STEP). */
  readonly maxActions: number;
}

export interface Acting extends ActionOptions {
  readonly actions: readonly AnyAction[];
  readonly tally: Tally;
  /** Decided requests beyond the plan. */
  amended: readonly Amendment[];
}

export function createActing({ maxActions }: ActionOptions, actions: readonly AnyAction[]): Acting {
  return { maxActions, actions, tally: createTally(), amended: [] };
}
