/** `/plan` in a session: makes a plan, and carries it out after a confirmation. */

import { PaiError } from "../../core/error.ts";
import { resumePlan } from "../../flows/auto.ts";
import { singleShot } from "../../flows/single-shot.ts";
import { type Planned, runTurn, type Talk, tell } from "./talk.ts";

export async function planTurn(talk: Talk, task: string): Promise<void> {
  if (task === "") throw new PaiError("usage", "/plan needs a task", { hint: "/plan add a --version flag" });
  const { run, plan, ok } = await runTurn(talk, task, { flow: singleShot, planOnly: true });
  if (!ok || run === null || plan?.intent !== "task") return;
  talk.planned = { task, typed: task, run, plan, approved: null, isYes: true };
  tell(talk, "plan", "nothing was changed; y carries it out");
}

/** The plan that a yes carries out: that of the session's last turn; null: none. */
export function waitingPlan({ planned, open }: Talk): Talk["planned"] {
  return open.session.turns.at(-1)?.run === planned?.run ? planned : null;
}

/**
 * Carries the plan out in a turn of its own. One that was only shown may still be corrected, and is asked about where it
 * does more than it showed or something has changed since; an approved one continues at once.
 */
export async function carryOut(talk: Talk, { task, typed, plan, approved, isYes }: Planned): Promise<void> {
  if (approved === null) {
    await runTurn(talk, task, { flow: singleShot, shown: plan, isYes });
    return;
  }
  const { mode, ...rest } = approved;
  const work = { plan, ...rest };
  await runTurn(talk, task, { flow: resumePlan(work), mode, typed, approved: work });
}
