/** Near names ("did you mean"), the distance between two, and the first of many. */
import { PaiError } from "./error.ts";

/** The name nearest to `word`, at most a third of its own length away; null: none is that near. */
export const suggest = (word: string, names: readonly string[]): string | null =>
  suggestSome(word, names, 1)[0] ?? null;

/** "did you mean NAME?" of the name nearest to `word`, spelled as it is typed; null: none is that near. */
export function didYouMean(word: string, names: readonly string[], spell = (name: string) => name): string | null {
  const near = suggest(word, names);
  return near === null ? null : `did you mean ${spell(near)}?`;
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

export function nameSome(names: readonly string[], max = 5): string {
  const more = names.length > max ? ` and ${names.length - max} more` : "";
  return `${names.slice(0, max).join(", ")}${more}`;
}

/** `wanted`, or the only id that begins with it; null: none. `what`: their plural. Throws usage for several. */
export function findId(ids: readonly string[], wanted: string, what: string, hint: string): string | null {
  const found = wanted === "" ? [] : ids.filter((id) => id.startsWith(wanted));
  if (found.length < 2 || found.includes(wanted)) return found.find((id) => id === wanted) ?? found[0] ?? null;
  throw new PaiError("usage", `${wanted} names ${found.length} ${what}: ${nameSome(found)}`, { hint });
}

/** Characters to insert, delete or replace; with `swaps` two swapped neighbours are one. Its time grows with both lengths. */
export function distance(a: string, b: string, { swaps }: { readonly swaps: boolean }): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (last[j - 1] ?? 0) + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      const isSwap = swaps && i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (beforeLast[j - 2] ?? 0) + 1 : changed;
      row.push(Math.min(changed, swapped, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
