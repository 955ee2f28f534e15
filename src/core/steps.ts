/** Work in steps: done at once, or with pauses in which signals and timers are handled. */

/** At each `yield` the caller may give the work up: then the `yield` throws, and the work tidies up. */
export type Steps<T> = Generator<void, T, void>;

/** Does the work without a pause. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
