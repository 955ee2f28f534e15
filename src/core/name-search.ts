/** Finds names by some of their letters, for a menu that follows each key. Pure. */

/** Names with their small letters, so that a search among 100,000 of them takes no longer than a key. */
export interface Names {
  readonly names: readonly string[];
  readonly small: readonly string[];
}

export const foldNames = (names: readonly string[]): Names => ({
  names,
  small: names.map((name) => name.toLowerCase()),
});

/** Whether the letters stand in the name in this order. */
function holdsInOrder(name: string, typed: string): boolean {
  let at = -1;
  for (const letter of typed) {
    at = name.indexOf(letter, at + 1);
    if (at === -1) return false;
  }
  return true;
}

/** How well a name fits: its last part begins with the letters (0), holds them (1), its path holds them (2), or none does. */
function kindOf(name: string, wanted: string): number {
  const at = name.lastIndexOf(wanted);
  const last = name.lastIndexOf("/") + 1;
  return at === -1 ? 3 : at < last ? 2 : at === last ? 0 : 1;
}

/** Names that are looked at of those that hold the letters with others between. */
const maxLoose = 1000;

/** The names that fit best, at most `most`; the short ones first. */
export function findNames({ names, small }: Names, typed: string, most: number): readonly string[] {
  const wanted = typed.toLowerCase();
  const kinds: number[][] = [[], [], [], []];
  for (let n = 0; n < small.length; n += 1) kinds[kindOf(small[n] ?? "", wanted)]?.push(n);
  const length = (n: number) => names[n]?.length ?? 0;
  /** Sorting them all would take longer than finding them. */
  const shortest = (all: Iterable<number>) => {
    const best: number[] = [];
    for (const n of all) {
      if (best.length === most && length(n) >= length(best.at(-1) ?? 0)) continue;
      best.splice(best.findLastIndex((each) => length(each) <= length(n)) + 1, 0, n);
      best.length = Math.min(best.length, most);
    }
    return best;
  };
  const [others = [], ...better] = kinds.toReversed();
  const whole = better.toReversed().flatMap(shortest).slice(0, most);
  const isLoose = (n: number) => wanted.length > 1 && holdsInOrder(small[n] ?? "", wanted);
  const loose = whole.length === most ? [] : others.values().filter(isLoose).take(maxLoose);
  return [...whole, ...shortest(loose).slice(0, most - whole.length)].map((n) => names[n] ?? "");
}
