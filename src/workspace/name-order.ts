/** The order of names in listings and walks: by code point, sorted as far as they are used. */

/** Up to this many names are sorted at once; larger lists are sorted part by part, as they are used. */
const sortedAtOnce = 20_000;

/**
 * Gives names one by one in code-point order. JavaScript's order, which is much faster, differs only for characters above
 * U+FFFF.
 */
export function openOrder(names: readonly string[]): () => string | undefined {
  const compare = names.some((name) => surrogate.test(name)) ? compareCodePoints : compareUnits;
  const parts = [[...names]];
  let sorted: readonly string[] = [];
  let at = 0;
  return () => {
    for (let part = parts.at(-1); at === sorted.length && part !== undefined; part = parts.at(-1)) {
      parts.pop();
      const halves = part.length > sortedAtOnce ? halve(part, compare) : null;
      if (halves !== null) parts.push(...halves);
      else [sorted, at] = [compare === compareUnits ? part.sort() : part.sort(compare), 0];
    }
    return sorted[at++];
  };
}

/** Splits names into larger and smaller ones; null if they are all equal. */
function halve(names: readonly string[], compare: typeof compareUnits): readonly [string[], string[]] | null {
  const some = Array.from({ length: 9 }, (_, n) => names[Math.floor((n * names.length) / 9)] ?? "");
  const middle = some.sort(compare)[4] ?? "";
  const [larger, smaller]: [string[], string[]] = [[], []];
  for (const name of names) (compare(name, middle) < 0 ? smaller : larger).push(name);
  return smaller.length === 0 ? null : [larger, smaller];
}

const surrogate = /[\ud800-\udfff]/;

/** Compares by code point: the byte order of UTF-8, unlike JavaScript's. */
export function compareCodePoints(a: string, b: string): number {
  if (surrogate.test(a) || surrogate.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return compareUnits(a, b);
}

/** JavaScript's order; `sort()` without it does the same much faster. */
const compareUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
