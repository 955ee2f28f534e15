/** Sorts names as people expect: numbers in them by value, so that 2 comes before 10. */

const { compare } = new Intl.Collator("en", { numeric: true });

/** Sorts items naturally and drops new folders that contain another item, whose path implies them. */
export function listNaturally<T>(items: readonly T[], of: (item: T) => { path: string; isNewFolder: boolean }): T[] {
  if (items.length < 2) return [...items];
  const paths = items.map((item) => of(item).path);
  const isTold = (folder: string) => paths.some((path) => path.startsWith(`${folder}/`));
  return items
    .filter((item) => !of(item).isNewFolder || !isTold(of(item).path))
    .toSorted((a, b) => compare(of(a).path, of(b).path));
}
