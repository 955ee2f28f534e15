/** What an aborted signal means, as the error a model call ends with. */
import { PaiError } from "../core/error.ts";

/** The signal's own PaiError (a timeout, a SIGTERM), else `interrupted`. */
export function interruption(signal: AbortSignal): PaiError {
  return signal.reason instanceof PaiError ? signal.reason : new PaiError("interrupted", "interrupted");
}

export function throwIfInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw interruption(signal);
}
