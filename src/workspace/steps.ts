/** Work in steps: done at once, or with pauses in which a signal is heard. */

/** Each `yield` is a place where the work may be given up: it throws there, and the work tidies up. */
export type Steps<T> = Generator<void, T, void>;

/** Milliseconds of work after which a signal is listened for. */
const pauseMs = 20;

/** Does it without a pause. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Does it with pauses. After the signal the reason is thrown into the work, which throws it again when it has tidied up. */
export async function pace<T>(steps: Steps<T>, signal: AbortSignal | undefined): Promise<T> {
  let since = performance.now();
  for (let next = steps.next(); ; next = signal?.aborted ? steps.throw(signal.reason) : steps.next()) {
    if (next.done === true) return next.value;
    if (performance.now() - since < pauseMs) continue;
    // Signals and timers come in turns of their own.
    await Bun.sleep(1);
    since = performance.now();
  }
}
