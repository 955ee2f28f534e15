/** A run with several models: one that plans beside one that works, and others for when the first cannot answer. */
import { type ErrorCode, PaiError } from "../core/error.ts";
import type { Model } from "../core/model.ts";
import type { Notice } from "../core/question.ts";
import { throwIfInterrupted, tryUntilBegun } from "./stream.ts";

/** Failures after which another model may succeed: not a refused key or request, and no refusal by the model itself. */
const reasons: ReadonlySet<ErrorCode> = new Set([
  "quota",
  "credit_exhausted",
  "provider_down",
  "network",
  "tls",
  "model_unknown",
]);

/** When a call fails before its first event, the next model goes on, and stays. Throws what the last model throws. */
export function fallBack(first: Model, others: readonly Model[], notify: (notice: Notice) => void) {
  let current = first;
  let left = others;
  /** Has the name of the first model, and the window and limits of the current one. */
  const model: Model = {
    ...first,
    get window() {
      return current.window;
    },
    get maxOutputTokens() {
      return current.maxOutputTokens;
    },
    async *stream(request, signal, refit = () => request.maxOutputTokens) {
      let fits = request.maxOutputTokens;
      yield* tryUntilBegun((failed) => {
        if (failed !== null) {
          const [next, ...rest] = left;
          if (next === undefined || !(failed instanceof PaiError) || !reasons.has(failed.code)) throw failed;
          throwIfInterrupted(signal);
          notify({ level: "warning", code: "model_switched", text: `${failed.message}; going on with ${next.id}` });
          current = next;
          left = rest;
          fits = refit();
        }
        const maxOutputTokens = Math.min(fits, current.maxOutputTokens);
        return current.stream({ ...request, maxOutputTokens }, signal);
      });
    },
  };
  return { model, current: () => current };
}

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
