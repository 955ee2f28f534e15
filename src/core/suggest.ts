/** "Did you mean": the nearest known name. */

import { distance } from "./distance.ts";

/** The name at most a third of its length away; null: none is near. */
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
