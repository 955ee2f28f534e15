/** The order of names in listings and walks: by code point, which is the byte order of UTF-8. */

const surrogate = /[\ud800-\udfff]/;

/** Compares by code point. JavaScript's order, which is much faster, differs only for characters above U+FFFF. */
export function compareCodePoints(a: string, b: string): number {
  if (surrogate.test(a) || surrogate.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The names in code-point order. */
export function sortNames(names: readonly string[]): readonly string[] {
  return names.some((name) => surrogate.test(name)) ? names.toSorted(compareCodePoints) : names.toSorted();
}
