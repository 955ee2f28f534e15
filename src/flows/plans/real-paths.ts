/** A plan with real paths: relative to the root, and with what links lead to in their place. */
import { PaiError, toPaiError } from "../../core/error.ts";
import type { PathUse } from "../../core/path.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { useOfTarget } from "../../core/plan/scope.ts";
import { namesPath, rowOf } from "../../core/vocabulary.ts";
import { claimsOfPlan, refuseLinks } from "../approval.ts";
import type { Run } from "../run.ts";

/** The plan with paths relative to the root, and with what links lead to in their place; says which links those are. */
export function withRealPaths(run: Run, plan: Plan): Plan {
  const { overlay, workspace } = run;
  if (plan.execution_plan === null) return plan;
  const removed = new Set(plan.execution_plan.steps.flatMap(({ action, target }) => (action === "RM" ? [target] : [])));
  const links = new Map<string, string>();
  const real = (text: string, use: PathUse): string => {
    try {
      const path = workspace.path(text, use);
      // What the plan removes is the link itself.
      const target = overlay.path(text, removed.has(text) ? "delete" : use);
      if (target === path) return text.startsWith("/") ? path || "." : text;
      links.set(path, target);
      return target;
    } catch {
      return text;
    }
  };
  const steps = plan.execution_plan.steps.map((step) => {
    const { action, target, destination } = step;
    if (!namesPath(action)) return step;
    const made = { ...step, target: real(target, useOfTarget(action)) };
    if (rowOf(action)?.form !== "pair" || destination === null) return made;
    return { ...made, destination: real(destination, action === "MV" ? "move" : "write") };
  });
  for (const [link, target] of links) {
    if (run.planning.linksTold.has(link)) continue;
    run.planning.linksTold.add(link);
    const text = `${link} leads to ${target} by a link: that is what the plan works on`;
    run.emit({ type: "notice", level: "info", code: "link_followed", text });
  }
  return { ...plan, execution_plan: { ...plan.execution_plan, steps } };
}

/**
 * What the model may mend in its plan, once: a link that leads out of the project, or work in a run that only answers;
 * null: nothing.
 */
export async function whyUnfit(run: Run, plan: Plan): Promise<PaiError | null> {
  if (plan.intent !== "task") return null;
  const steps = plan.execution_plan?.steps ?? [];
  const work = steps.flatMap(({ action, target }) => (rowOf(action)?.right == null ? [] : [`${action} ${target}`]));
  if (run.planning.asksOnly && work.length > 0)
    return new PaiError(
      "scope_refused",
      `nothing may be changed or run here, so not ${work.join(", ")}: only look and answer`,
    );
  try {
    await refuseLinks(run, claimsOfPlan(run, withRealPaths(run, plan)).claims);
    return null;
  } catch (thrown) {
    const error = toPaiError(thrown);
    if (error.code !== "path_refused") throw thrown;
    return error;
  }
}
