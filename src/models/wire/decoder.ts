/** The decoder of a bridge: turns the chunks of a reply into pai's events, with one `done` at the end. */
import type { ModelEvent } from "../../core/model.ts";

export interface Decoder {
  /** Takes the next chunk. Throws PaiError when the provider refuses to go on. */
  read(chunk: unknown): void;
  /** Returns the events of all chunks since the last call; text that arrived together is one event. */
  take(): readonly ModelEvent[];
  /** Whether the reply is whole: its closing event has arrived. */
  finished(): boolean;
  /** Returns the one `done`. Throws PaiError for a reply that is empty, or that the connection cut. */
  end(key: string | null): ModelEvent;
}
