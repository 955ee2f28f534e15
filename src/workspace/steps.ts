/** Work in steps with pauses in which a signal is heard. */
import type { Steps } from "../core/steps.ts";

/** Milliseconds of work after which a signal is listened for. */
const pauseMs = 20;

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
