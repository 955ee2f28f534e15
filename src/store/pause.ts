/** A delay that an abort signal ends. */
import { setTimeout as wait } from "node:timers/promises";

/** Resolves after `ms` milliseconds; rejects with the signal's reason once it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}
