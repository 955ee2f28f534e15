/** The edit distance of two texts, for suggestions and the edit ladder. */

/**
 * Characters to insert, delete or replace (Levenshtein). With `swaps`, two swapped neighbours count as one step, as in
 * a mistyped word (optimal string alignment). Takes time in proportion to the product of both lengths.
 */
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
