/** Records what a run learned about the project: results of its looks, and what earlier runs left. */

import type { ProjectMemory } from "../core/memory.ts";
import type { PlanCache, Workspace } from "../core/ports.ts";
import type { AnyAction } from "../core/proposal.ts";
import type { FactOf } from "../core/receipt.ts";

/** Wraps an action so that the result of a look is recorded. */
export function recordLooks(action: AnyAction, tell: (fact: FactOf<"look">) => void): AnyAction {
  if (action.kind !== "look") return action;
  return {
    ...action,
    async propose(input, stage, signal) {
      const found = await action.propose(input, stage, signal);
      if (found.kind === "answer" || found.kind === "complaint") {
        const code = found.kind === "complaint" ? found.code : null;
        tell({ type: "look", action: action.name, input, code, text: found.text });
      }
      return found;
    },
  };
}

/** Wraps a memory so that the facts given to the run are recorded; none if it has none. */
export function recordMemory(
  memory: ProjectMemory | null,
  tell: (fact: FactOf<"memory">) => void,
): ProjectMemory | null {
  if (memory === null) return null;
  const learns = memory.learn !== null;
  return {
    ...memory,
    async recall(task) {
      const text = await memory.recall(task);
      if (text !== "" || learns) tell({ type: "memory", text, learns });
      return text;
    },
  };
}

/** Wraps a plan cache so that its answers are recorded. */
export function recordPlans(cache: PlanCache | null, tell: (fact: FactOf<"cached">) => void): PlanCache | null {
  if (cache === null) return null;
  return {
    ...cache,
    async load(key) {
      const plan = await cache.load(key);
      tell({ type: "cached", plan });
      return plan;
    },
  };
}

/** Wraps the repository so that git's answers are recorded. */
export function recordRepository(
  { repository }: Workspace,
  tell: (text: string) => void,
): Pick<Workspace, "repository"> {
  if (repository === undefined) return {};
  return {
    async repository(signal) {
      const text = await repository(signal);
      if (text !== "") tell(text);
      return text;
    },
  };
}
