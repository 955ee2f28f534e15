/** Calls of tools that nobody offered: their names are whatever a server wrote, so nothing behind a bridge ever sees them. */
import type { ModelEvent, ModelRequest } from "../../core/model.ts";
import { vocabulary } from "../../core/vocabulary.ts";

/** Models call actions by the words of scripts and plans, too. */
const words: readonly string[] = vocabulary.flatMap(({ name, aliases, tool }) => [
  name,
  ...aliases,
  ...(tool === null ? [] : [tool]),
]);

/**
 * The events of one reply to a request, each call by a name that was offered or is an action's; any other is named
 * `unknown`. The reply is then no longer the provider's own: what it holds back for the next request is dropped.
 */
export function createCallNamer({ tools }: Pick<ModelRequest, "tools">): (event: ModelEvent) => ModelEvent {
  const known = new Set([...tools.map(({ name }) => name), ...words].map((name) => name.toLowerCase()));
  let renamed = false;
  return (event) => {
    if (event.type === "done") return renamed ? { ...event, native: null } : event;
    if (event.type !== "call" || known.has(event.call.name.toLowerCase())) return event;
    renamed = true;
    return { type: "call", call: { ...event.call, name: "unknown" } };
  };
}
