/** A model's stream: it may be asked for again until its first event, never after that; and what an aborted signal means. */

import { PaiError } from "../core/error.ts";
import type { Model, ModelEvent } from "../core/model.ts";

export type Stream = Model["stream"];

/** Waits for the first event; the events returned start with it. Rejects with what the stream throws before it. */
export async function begin(events: AsyncIterable<ModelEvent>): Promise<AsyncIterable<ModelEvent>> {
  const iterator = events[Symbol.asyncIterator]();
  return resume(await iterator.next(), iterator);
}

async function* resume(first: IteratorResult<ModelEvent>, rest: AsyncIterator<ModelEvent>): AsyncGenerator<ModelEvent> {
  try {
    for (let each = first; each.done !== true; each = await rest.next()) yield each.value;
  } finally {
    await rest.return?.();
  }
}

/** The signal's own PaiError (a timeout, a SIGTERM), else `interrupted`. */
export function interruption(signal: AbortSignal): PaiError {
  return signal.reason instanceof PaiError ? signal.reason : new PaiError("interrupted", "interrupted");
}

export function throwIfInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw interruption(signal);
}
