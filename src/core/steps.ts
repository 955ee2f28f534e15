/** Work in steps: done at once, or with pauses in which signals and timers are handled. */

/** At each `yield` the caller may give the work up: then the `yield` throws, and the work tidies up. */
export type Steps<T> = Generator<void, T, void>;

export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

const maxWorkMs = 20;

let last = performance.now();

/** Resolves in the next turn of the event loop, when work that was begun before (such as a request) is under way. */
export const nextTurn = (): Promise<void> => new Promise((done) => setImmediate(done));

/** What the work comes to, or "late" after so many milliseconds; no timer that is left keeps the process from ending. */
export async function waitAtMost<T>(work: Promise<T>, ms: number): Promise<T | "late"> {
  const { promise, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

async function pause(): Promise<void> {
  // A signal is heard in the first turn, a time limit that is over in the second.
  await nextTurn();
  await nextTurn();
  last = performance.now();
}

/** Lets the event loop turn when it has not for 20 ms. Throws the signal's reason when it is aborted. */
export async function breathe(signal?: AbortSignal): Promise<void> {
  if (performance.now() - last > maxWorkMs) await pause();
  signal?.throwIfAborted();
}

/** Lets the event loop turn in any case: before an effect that cannot be undone, and before a run counts as done. */
export async function listen(signal: AbortSignal): Promise<void> {
  await pause();
  signal.throwIfAborted();
}

/** Does the work with pauses. On abort it throws the signal's reason into the work, which tidies up and rethrows it. */
export async function pace<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T> {
  for (let next = steps.next(); ; next = signal?.aborted ? steps.throw(signal.reason) : steps.next()) {
    if (next.done === true) return next.value;
    if (performance.now() - last > maxWorkMs) await pause();
  }
}
