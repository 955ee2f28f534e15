/** Finds what a resumed reply repeats of the body it goes on with. */

/** Lines of a resumed reply that may repeat the end of the cut body. */
export const overlapLimit = 30;

/**
 * How many of the first lines of `next` repeat the end of `lines`. Blank lines and lone brackets repeat by
 * themselves, so an overlap counts only if a letter or digit stands in it.
 */
export function countOverlap(lines: readonly string[], next: readonly { readonly text: string }[]): number {
  for (let count = Math.min(overlapLimit, lines.length, next.length); count > 0; count--) {
    const end = lines.slice(-count);
    const equal = end.every((line, at) => line === next[at]?.text);
    if (equal) return end.some((line) => /[\p{L}\p{N}]/u.test(line)) ? count : 0;
  }
  return 0;
}
