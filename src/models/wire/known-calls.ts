/** Renames calls of tools that nobody offered: a server may have written anything as their name. */
import type { ModelEvent, ModelRequest } from "../../core/model.ts";
import { vocabulary } from "../../core/vocabulary.ts";

/** Names of actions in scripts, plans and tools, in lower case: models use all of them in calls. */
const words: ReadonlySet<string> = new Set(
  vocabulary
    .flatMap(({ name, aliases, tool }) => [name, ...aliases, ...(tool === null ? [] : [tool])])
    .map((name) => name.toLowerCase()),
);

/**
 * Maps the events of one reply: a call whose name was not offered and is not an action's is named `unknown`. The native
 * form of such a reply is dropped, since it holds the other name.
 */
export function createCallNamer({ tools }: Pick<ModelRequest, "tools">): (event: ModelEvent) => ModelEvent {
  const isKnown = (called: string) => words.has(called) || tools.some(({ name }) => name.toLowerCase() === called);
  let renamed = false;
  return (event) => {
    if (event.type === "done") return renamed ? { ...event, native: null } : event;
    if (event.type !== "call" || isKnown(event.call.name.toLowerCase())) return event;
    renamed = true;
    return { type: "call", call: { ...event.call, name: "unknown" } };
  };
}
