/** A model's stream and the moment it begins: until its first event it may be asked for again, after that never. */
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
