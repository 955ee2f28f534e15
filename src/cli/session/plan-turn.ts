/** `/plan` in a session: a plan only, and carrying it out once it is confirmed. */
import { PaiError } from "../../core/error.ts";
import { followPlan, singleShot } from "../../flows/single-shot.ts";
import { runTurn, type Talk } from "./talk.ts";

export async function planTurn(talk: Talk, task: string): Promise<void> {
  if (task === "") throw new PaiError("usage", "/plan needs a task", { hint: "/plan add a --version flag" });
  const { run, plan, ok } = await runTurn(talk, task, { flow: singleShot, planOnly: true });
  if (!ok || run === null || plan?.intent !== "task") return;
  talk.planned = { task, run, plan };
  talk.context.err("nothing was changed; y carries it out\n");
}

/** The plan that a yes would carry out: the one that the last turn of the session made; null: none. */
export function waitingPlan({ planned, open }: Talk): Talk["planned"] {
  return open.session.turns.at(-1)?.run === planned?.run ? planned : null;
}

/**
 * Carries the plan out in a turn of its own, which shows it and asks again: a yes typed before it was seen does
 * nothing.
 */
export async function carryOut(talk: Talk, { task, plan }: NonNullable<Talk["planned"]>): Promise<void> {
  await runTurn(talk, task, { flow: followPlan(plan, null), command: "apply" });
}
