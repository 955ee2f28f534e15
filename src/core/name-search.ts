/** Finds names by some of their letters, for a menu that follows each key. Pure. */

function holdsInOrder(name: string, typed: string): boolean {
  let at = -1;
  for (const letter of typed) {
    at = name.indexOf(letter, at + 1);
    if (at === -1) return false;
  }
  return true;
}

/** How a name fits: 0 its last part begins with the letters, 1 holds them, 2 its path does, 3 in order; null: not. */
function rankOf(name: string, wanted: string): number | null {
  const at = name.lastIndexOf(wanted);
  if (at === -1) return wanted.length > 1 && holdsInOrder(name, wanted) ? 3 : null;
  const last = name.lastIndexOf("/") + 1;
  if (at < last) return 2;
  return at === last ? 0 : 1;
}

/** The names that fit best, at most `most`; the short ones first. */
export function findNames(names: readonly string[], typed: string, most: number): readonly string[] {
  const wanted = typed.toLowerCase();
  const ranked = Map.groupBy(names, (name) => rankOf(name.toLowerCase(), wanted));
  const byLength = (rank: number) => (ranked.get(rank) ?? []).sort((a, b) => a.length - b.length);
  return [0, 1, 2, 3].flatMap(byLength).slice(0, most);
}
