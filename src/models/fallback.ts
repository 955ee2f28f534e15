/** Models to turn to when the first cannot answer: only those the user listed, in that order, and never without a notice. */
import { type ErrorCode, PaiError } from "../core/error.ts";
import type { Model } from "../core/model.ts";
import type { Notice } from "../core/question.ts";
import { throwIfInterrupted, tryUntilBegun } from "./stream.ts";

export interface Fallback {
  /** Asked for by the name of the first; window and limits are those of the one in use. */
  readonly model: Model;
  /** The one in use. */
  readonly current: () => Model;
}

/**
 * Failures after which another model may succeed. A refused key or request is for the user to correct, and a model's
 * refusal stands.
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
 * One model out of a list. It moves on when a call fails before its first event, and stays there.
 * Throws what the last of the list throws.
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
