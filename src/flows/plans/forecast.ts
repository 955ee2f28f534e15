/** Estimates from a plan what the run will have sent, received and cost at its end. */

import { maxShown, maxWhole } from "../../core/context/shown.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { type PlanAction, rowOf } from "../../core/vocabulary.ts";
import { filesOf } from "../evidence.ts";
import { executeLength } from "../prompts/prompts.ts";
import type { Run } from "../run.ts";

/** Estimated characters of a look's answer before the look is done. */
const maxOfLook = 2000;
/** Estimated characters that a model writes for an action, and for FINISH. */
const written: Readonly<Partial<Record<PlanAction, number>>> = { WRITE: 2400, MODIFY: 800 };
const shortAction = 60;
const finishText = 400;

/** Characters of the files that a plan names, without those that are missing or may not be read. */
async function sizeOfFiles(run: Run, plan: Plan): Promise<number> {
  const { paths, edited } = filesOf(run, plan);
  let size = 0;
  for (const path of paths) {
    const blob = await run.overlay.read(path).catch(() => null);
    if (blob?.kind === "file") size += Math.min(blob.bytes.length, edited.has(path) ? maxWhole : maxShown);
  }
  return size;
}

/** Estimates what the whole run will have used at its end: tokens, and USD (null: price unknown). */
export async function forecast(
  run: Run,
  plan: Plan,
): Promise<{ readonly tokens: number; readonly cost: number | null }> {
  const { ledger, task } = run;
  const steps = plan.execution_plan?.steps ?? [];
  let sent =
    executeLength() +
    task.text.length +
    (task.context?.length ?? 0) +
    JSON.stringify(steps).length / 2 +
    (await sizeOfFiles(run, plan));
  let output = finishText;
  for (const { action } of steps) {
    const row = rowOf(action);
    if (row?.kind === "look" && !row.shows) sent += maxOfLook;
    output += written[action] ?? shortAction;
  }
  const calls = Math.max(0, ledger.promised.expected - ledger.made);
  const rest = { input: calls * ledger.estimate(sent), cached: 0, output: calls * ledger.estimate(output), thought: 0 };
  const price = ledger.priceOf(rest);
  return {
    tokens: ledger.usage.input + ledger.usage.output + rest.input + rest.output,
    cost: price === null || ledger.cost === null ? null : ledger.cost + price,
  };
}
