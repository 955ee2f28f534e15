/** A wait that a signal ends. */

/** Resolves after so many milliseconds; rejects with the signal's reason as soon as it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { setTimeout: wait } = await import("node:timers/promises");
  await wait(ms, undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}
