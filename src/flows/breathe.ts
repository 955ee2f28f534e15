/** Lets signals and time limits take effect during long work that never waits. */

import type { Steps } from "../core/steps.ts";

/** Milliseconds of work between two pauses. */
const maxWorkMs = 20;

let last = performance.now();

/** Resolves in the next turn of the event loop, when work that was begun before (such as a request) is under way. */
export const nextTurn = (): Promise<void> => new Promise((done) => setImmediate(done));

/** Lets the event loop turn when it has not for 20 ms. Throws the signal's reason when it is aborted. */
export async function breathe(signal: AbortSignal): Promise<void> {
  if (performance.now() - last > maxWorkMs) await listen(signal);
  signal.throwIfAborted();
}

/** Lets the event loop turn in any case: before an effect that cannot be undone, and before a run counts as done. */
export async function listen(signal: AbortSignal): Promise<void> {
  // A signal is heard in the first turn, a time limit that is over in the second.
  await nextTurn();
  await nextTurn();
  last = performance.now();
  signal.throwIfAborted();
}

/** Does work in steps, and lets the event loop turn between them. Throws the signal's reason; null: ignores signals. */
export async function breatheThrough<T>(steps: Steps<T>, signal: AbortSignal | null): Promise<T> {
  for (let next = steps.next(); ; next = steps.next()) {
    if (next.done === true) return next.value;
    if (performance.now() - last > maxWorkMs) await listen(signal ?? never);
  }
}

const never = new AbortController().signal;
