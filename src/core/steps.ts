/** Work in steps: done at once, or with pauses in which others are heard. */

/** Each `yield` is a place where the work may be given up: it throws there, and the work tidies up. */
export type Steps<T> = Generator<void, T, void>;

/** Does it without a pause. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
