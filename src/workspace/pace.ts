/** Does work in steps, with pauses in which an abort signal takes effect. */
import type { Steps } from "../core/steps.ts";

/** Milliseconds of work between two pauses. */
const pauseMs = 20;

/** Does the work with pauses. On abort it throws the signal's reason into the work, which tidies up and rethrows it. */
export async function pace<T>(steps: Steps<T>, signal: AbortSignal | undefined): Promise<T> {
  let since = performance.now();
  for (let next = steps.next(); ; next = signal?.aborted ? steps.throw(signal.reason) : steps.next()) {
    if (next.done === true) return next.value;
    if (performance.now() - since < pauseMs) continue;
    // The event loop handles signals and timers only in a turn of its own.
    await Bun.sleep(1);
    since = performance.now();
  }
}
