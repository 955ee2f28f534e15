/** Names in messages: the nearest known name ("did you mean"), and the first of many. */

import { distance } from "./distance.ts";

/** The name nearest to `word`, at most a third of its own length away; null: none is that near. */
export function suggest(word: string, names: readonly string[]): string | null {
  const near = names
    .map((name) => ({
      name,
      steps: name.startsWith(word) && word.length > 2 ? 0 : distance(word.toLowerCase(), name, { swaps: true }),
    }))
    .sort((a, b) => a.steps - b.steps)
    .at(0);
  return near !== undefined && near.steps <= Math.max(1, near.name.length / 3) ? near.name : null;
}

/** "a, b and 3 more": the first `max` names. */
export function nameSome(names: readonly string[], max = 5): string {
  const more = names.length > max ? ` and ${names.length - max} more` : "";
  return `${names.slice(0, max).join(", ")}${more}`;
}
