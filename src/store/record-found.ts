/** Writes down what a run found out about the project: what its looks brought, and what is kept of earlier runs. */

import type { ProjectMemory } from "../core/memory.ts";
import type { PlanCache, Workspace } from "../core/ports.ts";
import type { AnyAction } from "../core/proposal.ts";
import type { FactOf } from "../core/receipt.ts";

/** An action that records what it found, if it is a look. */
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

/** A memory that records what it told the run; records nothing where it tells and learns nothing. */
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

/** A plan cache that records what it answered. */
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

/** Records what git said of the workspace. */
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
