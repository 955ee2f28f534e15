/** Sorts names as people expect: numbers in them by value, so that 2 comes before 10. */

const parts = /\d+|\D+/g;
const digits = /^\d/;

function compareParts(a: string, b: string): number {
  if (digits.test(a) && digits.test(b)) {
    const [one, other] = [a.replace(/^0+/, ""), b.replace(/^0+/, "")];
    if (one.length !== other.length) return one.length - other.length;
    if (one !== other) return one < other ? -1 : 1;
    return 0;
  }
  return a === b ? 0 : a < b ? -1 : 1;
}

/** For `sort`: negative if `a` comes first; 0 only for equal texts. */
export function compareNaturally(a: string, b: string): number {
  const [left, right] = [a.match(parts) ?? [], b.match(parts) ?? []];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const order = compareParts(left[at] ?? "", right[at] ?? "");
    if (order !== 0) return order;
  }
  if (left.length !== right.length) return left.length - right.length;
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Sorts items naturally and drops new folders that contain another item, whose path implies them. */
export function listNaturally<T>(items: readonly T[], of: (item: T) => { path: string; isNewFolder: boolean }): T[] {
  if (items.length < 2) return [...items];
  const paths = items.map((item) => of(item).path);
  const isTold = (folder: string) => paths.some((path) => path.startsWith(`${folder}/`));
  return items
    .filter((item) => !of(item).isNewFolder || !isTold(of(item).path))
    .toSorted((a, b) => compareNaturally(of(a).path, of(b).path));
}
