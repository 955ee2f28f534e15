/** Estimates what a run will have used at its end. */
import { sizeOf, type Usage, weighedOf } from "../../core/model.ts";
import type { Promised } from "../../core/outcome.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { type PlanAction, rowOf } from "../../core/vocabulary.ts";
import { sizeOfFiles } from "../plan-files.ts";
import { workPrompt } from "../prompts/prompts.ts";
import type { Run } from "../run.ts";

/** Estimated characters of a look's answer before the look is done. */
const maxOfLook = 2000;
/** Estimated characters that a model writes for an action, and for FINISH. */
const written: Readonly<Partial<Record<PlanAction, number>>> = { WRITE: 2400, MODIFY: 800 };
const shortAction = 60;
const finishText = 400;

/** Estimates what the whole run will have used at its end: tokens, the same weighed, and USD (null: price unknown). */
export async function forecast(run: Run, plan: Plan): Promise<Pick<Promised, "tokens" | "weighed" | "cost">> {
  const { ledger, task } = run;
  const steps = plan.execution_plan?.steps ?? [];
  const { dialogue } = run;
  const repeated =
    dialogue.messages.length === 0
      ? workPrompt(run.changing.strict).length + task.text.length + (task.context?.length ?? 0)
      : dialogue.messages.reduce((sum, message) => sum + sizeOf(message), dialogue.head.length);
  let sent = JSON.stringify(steps).length / 2 + (await sizeOfFiles(run, plan));
  let output = finishText;
  for (const { action } of steps) {
    const row = rowOf(action);
    if (row?.kind === "look" && !row.shows) sent += maxOfLook;
    output += written[action] ?? shortAction;
  }
  const calls = Math.max(0, ledger.promised.expected - ledger.made);
  // The price is the full one: a cache may miss.
  const rest: Usage = {
    input: calls * ledger.estimate(repeated + sent),
    cached: 0,
    output: calls * ledger.estimate(output),
    thought: 0,
  };
  const price = ledger.priceOf(rest);
  const kept = dialogue.messages.length === 0 ? 0 : calls * ledger.estimate(repeated);
  return {
    tokens: ledger.usage.input + ledger.usage.output + rest.input + rest.output,
    weighed: weighedOf(ledger.usage) + weighedOf({ ...rest, cached: kept }),
    cost: price === null || ledger.cost === null ? null : ledger.cost + price,
  };
}
