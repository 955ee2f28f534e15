/** What every bridge makes of the chunks of a reply: events in pai's words, and one verdict at the end. */
import type { ModelEvent } from "../../core/model.ts";

export interface Decoder {
  /** Takes the next chunk. Throws PaiError when the provider refuses to go on. */
  read(chunk: unknown): void;
  /** Events of all chunks since the last time; text that arrived together is one. */
  take(): readonly ModelEvent[];
  /** True once the reply is whole: its closing event has arrived. */
  finished(): boolean;
  /** The one `done`. Throws PaiError for a reply that is empty or was cut by the connection. */
  end(key: string | null): ModelEvent;
}
