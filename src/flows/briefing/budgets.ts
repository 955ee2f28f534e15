/** How many characters of each part a briefing may hold, for the model in use. */
import { partOf } from "../../core/model.ts";
import type { Run } from "../run.ts";
import type { Source } from "./sources.ts";

/** The most characters of each part, for a model with a large window. */
export const widestBudget = {
  knowledge: 8_000,
  tree: 4_000,
  ranked: 1_400,
  excerpts: 20_000,
  history: 3_000,
  context: 200_000,
};
export type Budgets = typeof widestBudget;
/** Characters of a token, a careful estimate: in prose about four, in code fewer. */
const perToken = 3;
/** Characters of the request besides the briefing: instructions, schema, the task itself. */
const otherChars = 6_000;
/** Characters of a briefing with every part at its maximum, without context. */
const widestChars =
  2 * widestBudget.knowledge + widestBudget.tree + widestBudget.ranked + widestBudget.excerpts + widestBudget.history;

/**
 * The budgets for the current model. What the person gave (context, named files) comes first, the context with at most
 * half of the window; the other parts share the rest in the proportions of `widest`. `scale`: the share to use.
 */
export function fitBudgets({ ports, task }: Run, mentioned: readonly Source[], scale: number): Budgets {
  const model = partOf(ports.model, "plan");
  const room = Math.max(0, (model.window - model.maxOutputTokens) * perToken - otherChars);
  const named = mentioned.reduce((sum, { shown }) => sum + shown.length, 0);
  const given = named + Math.min(widestBudget.context, task.context?.length ?? 0, Math.floor(room / 2));
  const share = Math.max(0, Math.min(1, (room - given) / widestChars)) * scale;
  const scaled = Object.entries(widestBudget).map(([name, widestOf]) => [name, Math.floor(widestOf * share)] as const);
  return {
    ...widestBudget,
    ...Object.fromEntries(scaled),
    context: Math.min(widestBudget.context, Math.floor(room / 2)) * scale,
  };
}
