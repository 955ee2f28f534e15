/** What shows a run: for every event a function; each part of the terminal gives some of them. */
import type { StampedEvent } from "../../core/event.ts";

export type EventOf<T extends StampedEvent["type"]> = Extract<StampedEvent, { readonly type: T }>;

export type Shows<T extends StampedEvent["type"] = StampedEvent["type"]> = {
  readonly [Type in T]: (event: EventOf<Type>) => void;
};
