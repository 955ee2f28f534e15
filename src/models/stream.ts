/** A model's stream; retries are allowed only before its first event. Also turns an aborted signal into an error. */
import { PaiError } from "../core/error.ts";
import type { Model, ModelEvent } from "../core/model.ts";

export type Stream = Model["stream"];

/**
 * The events of the first stream that begins. `next` returns the stream to try: it gets the error of the stream before,
 * null at first, and must throw when nothing is left to try. An error after the first event is thrown here.
 */
export async function* tryUntilBegun(
  next: (failed: unknown) => AsyncIterable<ModelEvent> | Promise<AsyncIterable<ModelEvent>>,
): AsyncGenerator<ModelEvent> {
  let failed: unknown = null;
  for (;;) {
    const events = (await next(failed))[Symbol.asyncIterator]();
    let first: IteratorResult<ModelEvent>;
    try {
      first = await events.next();
    } catch (thrown) {
      failed = thrown;
      continue;
    }
    try {
      for (let each = first; each.done !== true; each = await events.next()) yield each.value;
    } finally {
      await events.return?.();
    }
    return;
  }
}

/** The signal's own PaiError (a timeout, a SIGTERM), else `interrupted`. */
export function interruption(signal: AbortSignal): PaiError {
  return signal.reason instanceof PaiError ? signal.reason : new PaiError("interrupted", "interrupted");
}

export function throwIfInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw interruption(signal);
}
