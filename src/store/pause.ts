/** A delay that an abort signal ends. */

/** Resolves after `ms` milliseconds; rejects with the signal's reason once it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { setTimeout: wait } = await import("node:timers/promises");
  await wait(ms, undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}
