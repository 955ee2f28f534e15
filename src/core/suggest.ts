/** Names in messages: the nearest known name ("did you mean"), and the first of many. */

import { distance } from "./distance.ts";

/** The name nearest to `word`, at most a third of its own length away; null: none is that near. */
export function suggest(word: string, names: readonly string[]): string | null {
  return suggestSome(word, names, 1)[0] ?? null;
}

/** Up to `max` names near to `word`, each at most a third of its own length away, the nearest first. */
export function suggestSome(word: string, names: readonly string[], max: number): readonly string[] {
  return names
    .map((name) => ({
      name,
      steps: name.startsWith(word) && word.length > 2 ? 0 : distance(word.toLowerCase(), name, { swaps: true }),
    }))
    .filter(({ name, steps }) => steps <= Math.max(1, name.length / 3))
    .sort((a, b) => a.steps - b.steps)
    .slice(0, max)
    .map(({ name }) => name);
}

/** "a, b and 3 more": the first `max` names. */
export function nameSome(names: readonly string[], max = 5): string {
  const more = names.length > max ? ` and ${names.length - max} more` : "";
  return `${names.slice(0, max).join(", ")}${more}`;
}
