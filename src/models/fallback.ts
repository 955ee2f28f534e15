/** Other models for when the first cannot answer: those that the user listed, in that order, each with a notice. */
import { type ErrorCode, PaiError } from "../core/error.ts";
import type { Model } from "../core/model.ts";
import type { Notice } from "../core/question.ts";
import { throwIfInterrupted, tryUntilBegun } from "./stream.ts";

export interface Fallback {
  /** Has the name of the first model, and the window and limits of the current one. */
  readonly model: Model;
  /** The model in use. */
  readonly current: () => Model;
}

/**
 * Failures after which another model may succeed. Not among them are a refused key or request, which the user must
 * correct, and a refusal by the model itself.
 */
const reasons: ReadonlySet<ErrorCode> = new Set([
  "quota",
  "credit_exhausted",
  "provider_down",
  "network",
  "tls",
  "model_unknown",
]);

/**
 * One model made of a list. When a call fails before its first event, it moves on to the next model, and stays there.
 * Throws what the last model throws.
 */
export function fallBack(first: Model, others: readonly Model[], notify: (notice: Notice) => void): Fallback {
  let current = first;
  let left = others;
  const model: Model = {
    id: first.id,
    provider: first.provider,
    name: first.name,
    address: first.address,
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
