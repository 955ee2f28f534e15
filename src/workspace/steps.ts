/** Does work in steps, with pauses in which an abort signal takes effect. */
import type { Steps } from "../core/steps.ts";

/** Milliseconds of work between two pauses. */
const pauseMs = 20;

/**
 * Does the work with pauses. After the signal its reason is thrown into the work, which tidies up and throws it again.
 */
export async function pace<T>(steps: Steps<T>, signal: AbortSignal | undefined): Promise<T> {
  let since = performance.now();
  for (let next = steps.next(); ; next = signal?.aborted ? steps.throw(signal.reason) : steps.next()) {
    if (next.done === true) return next.value;
    if (performance.now() - since < pauseMs) continue;
    // Signals and timers are served in their own turns of the event loop.
    await Bun.sleep(1);
    since = performance.now();
  }
}
