/** "Did you mean": the nearest known name. */

/** Characters to add, leave out, replace or swap with their neighbour. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  const steps = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i += 1) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j += 1) {
      const changed = steps(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? steps(i - 2, j - 2) + 1 : changed;
      rows[i]?.push(Math.min(changed, swapped, steps(i - 1, j) + 1, steps(i, j - 1) + 1));
    }
  }
  return steps(a.length, b.length);
}

/** The name at most a third of its length away; null: none is near. */
export function suggest(word: string, names: readonly string[]): string | null {
  const near = names
    .map((name) => ({ name, steps: name.startsWith(word) && word.length > 2 ? 0 : distance(word.toLowerCase(), name) }))
    .sort((a, b) => a.steps - b.steps)
    .at(0);
  return near !== undefined && near.steps <= Math.max(1, near.name.length / 3) ? near.name : null;
}
