/** "Did you mean": the nearest known name. */

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The name at most a third of its length away; null: none is near. */
export function suggest(word: string, names: readonly string[]): string | null {
  const near = names
    .map((name) => ({ name, steps: name.startsWith(word) && word.length > 2 ? 0 : distance(word.toLowerCase(), name) }))
    .sort((a, b) => a.steps - b.steps)
    .at(0);
  return near !== undefined && near.steps <= Math.max(1, near.name.length / 3) ? near.name : null;
}
