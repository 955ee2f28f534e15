/** Lets signals and time limits take effect between pieces of work that never wait by themselves. */

import type { Steps } from "../core/steps.ts";

/** Milliseconds of work between two pauses. */
const longest = 20;

let last = performance.now();

/** The next turn of the event loop: what was begun has then been handed over, and nothing was waited for. */
export const nextTurn = (): Promise<void> => new Promise((done) => setImmediate(done));

/** Takes a turn of the event loop when the last one is some time ago. Throws the signal's reason when it is aborted. */
export async function breathe(signal: AbortSignal): Promise<void> {
  if (performance.now() - last > longest) await listen(signal);
  signal.throwIfAborted();
}

/** Takes a turn of the event loop in any case: before what cannot be called back, and before a run is called done. */
export async function listen(signal: AbortSignal): Promise<void> {
  // A signal is heard in the first turn, a time limit that is over in the second.
  await nextTurn();
  await nextTurn();
  last = performance.now();
  signal.throwIfAborted();
}

/** Does work in steps, with turns of the event loop between them. Throws the signal's reason; null: goes on after a signal. */
export async function breatheThrough<T>(steps: Steps<T>, signal: AbortSignal | null): Promise<T> {
  for (let next = steps.next(); ; next = steps.next()) {
    if (next.done === true) return next.value;
    if (performance.now() - last > longest) await listen(signal ?? never);
  }
}

const never = new AbortController().signal;
