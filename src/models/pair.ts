/** Two models that share a run: one makes and mends plans, the other does all other calls. */
import type { Model } from "../core/model.ts";

/** A request goes to the model of its job. What no job tells apart counts for both: the smaller window, the shorter reply. */
export function pairModels(plan: Model, work: Model): Model {
  return {
    id: `plan=${plan.id},work=${work.id}`,
    provider: work.provider,
    name: work.name,
    address: work.address,
    parts: { plan, work },
    get window() {
      return Math.min(plan.window, work.window);
    },
    get maxOutputTokens() {
      return Math.min(plan.maxOutputTokens, work.maxOutputTokens);
    },
    stream: (request, signal, refit) => (request.job === "plan" ? plan : work).stream(request, signal, refit),
  };
}
