/** What every match of a pattern holds, so that text without it need not be tried. */

/** Neighbours in every match: a pattern that cannot be slow, and the longest text in it. */
interface Run {
  readonly source: string;
  readonly text: string;
  /** How rare it is: more for characters than for classes. */
  readonly weight: number;
}

/** One of these runs is in every match of a pattern, or of a part of it. */
type Need = readonly Run[];

const least = (runs: Need, of: (run: Run) => number): number => Math.min(...runs.map(of));

/** The need that says most; null: there is none. */
function best(needs: readonly Need[], of: (run: Run) => number): Need | null {
  return needs.reduce<Need | null>(
    (all, each) => (all !== null && least(all, of) >= least(each, of) ? all : each),
    null,
  );
}

/** One character, escaped or not, or a class; with how often it comes. */
const atomShape = /^(\\.|\[(?:\\.|[^\\\]])*\]|.)((?:[?*+]|\{\d+(?:,\d*)?\})\??)?/s;
const groupShape = /^\((?:\?(?:[:=!]|<[=!]|<\w+>))?/;
const timesShape = /^(?:(?:[?*+]|\{\d+(?:,\d*)?\})\??)?/;
/** An atom that comes more often counts as one that comes at least so often. */
const mostTimes = 16;

/** How often an atom comes, at least, and whether no more. */
function countOf(times = ""): { readonly count: number; readonly isExact: boolean } {
  if (times === "") return { count: 1, isExact: true };
  if (/^[?*]/.test(times)) return { count: 0, isExact: false };
  const [, digits = "1", more] = /^\{(\d+)(,)?/.exec(times) ?? [];
  const count = Math.min(Number(digits), mostTimes);
  return { count, isExact: times.startsWith("{") && more === undefined && count < mostTimes };
}

/** The character that an atom stands for; null: it stands for several, or for none. */
function literalOf(atom: string): string | null {
  if (atom.length === 2) return /^\\[!-/:-@[-`{-~]$/.test(atom) ? atom.slice(1) : null;
  return /^[ -~]$/.test(atom) && !/^[.^$]$/.test(atom) ? atom : null;
}

function weigh(atom: string): number {
  if (literalOf(atom) !== null) return 4;
  return /^(?:[.^$]|\[\^|\\[bBDSW])/.test(atom) ? 0 : 1;
}

const plainCharacters = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));

/** Whether an atom ends where the rest of the pattern goes on: nothing that it stands for can begin the rest. */
function endsAt(atom: string, rest: string): boolean {
  const [, next = "", times] = atomShape.exec(rest) ?? [];
  if (!/^[ -~]+$/.test(atom + next) || /^(?:[|()^$]|\\[bB]|$)/.test(next) || countOf(times).count === 0) return false;
  const [one, other] = [atom, next].map((each) => new RegExp(`^${each}$`, "is")) as [RegExp, RegExp];
  return !plainCharacters.some((character) => one.test(character) && other.test(character));
}

function runOf(atoms: readonly string[]): Run {
  const texts = atoms
    .map((atom) => literalOf(atom) ?? "\n")
    .join("")
    .split("\n");
  const text = texts.reduce((longest, each) => (each.length > longest.length ? each : longest), "");
  return { source: atoms.join(""), text, weight: atoms.reduce((sum, atom) => sum + weigh(atom), 0) };
}

/**
 * What is in a row in a pattern, with atoms between that come a few times, or one of those that comes more often. Each
 * ends where the next one begins, so that no text takes long.
 */
function openChain() {
  let atoms: string[] = [];
  let often: string[] = [];
  const end = (): readonly Need[] => {
    const need = [atoms.join(""), ...often].map((source) => ({ source, text: "", weight: 0 }));
    [atoms, often] = [[], []];
    return need.length > 1 ? [need] : [];
  };
  return {
    end,
    add: (each: readonly string[]) => atoms.push(...each),
    /** Goes on over an atom that comes `count` times or more; the need that ends here where it cannot. */
    over(atom: string, count: number, rest: string): readonly Need[] {
      if (atoms.length > 0 && count < mostTimes && endsAt(atom, rest)) {
        atoms.push(`${atom}{${count},${mostTimes - 1}}`);
        often.push(`${atom}{${mostTimes}}`);
        return [];
      }
      const once = new Array<string>(count).fill(atom);
      atoms.push(...once);
      const ended = end();
      atoms = once;
      return ended;
    },
  };
}

/** A group that is the same without its parentheses, and how often it comes. */
const flatGroup =
  /^\((?:\?:)?((?!\?)(?:\\.|\[(?:\\.|[^\\\]])*\]|\{\d+(?:,\d*)?\}|[^\\()|[\]{}])*)\)(?:\{([1-4])\})?(?![?*+{])/s;

/** Reads a valid pattern from left to right. */
function readPattern(source: string): readonly Need[] {
  let rest = source;
  const take = (shape: RegExp): RegExpExecArray => {
    const found = shape.exec(rest) as RegExpExecArray;
    rest = rest.slice(found[0].length);
    return found;
  };
  const flatten = (): void => {
    while (flatGroup.test(rest))
      rest = rest.replace(flatGroup, (_, inner: string, times = "1") => inner.repeat(Number(times)));
  };
  const group = (): readonly Need[] => {
    const [open] = take(groupShape);
    const inner = branches();
    rest = rest.slice(1);
    const [times] = take(timesShape);
    return /[=!]$/.test(open) || !/^\+?\??$/.test(times) || times === "?" ? [] : inner;
  };
  /** Atoms up to a group: where one comes any number of times, a run ends, and the next one begins. */
  const runs = (): readonly Need[] => {
    const needs: Need[] = [];
    const chain = openChain();
    let atoms: string[] = [];
    const endRun = () => {
      const run = runOf(atoms);
      if (run.weight > 0) needs.push([run]);
    };
    flatten();
    while (!/^(?:[|()]|$)/.test(rest)) {
      const [, atom = "", times] = take(atomShape);
      flatten();
      const { count, isExact } = countOf(times);
      const each = new Array<string>(count).fill(atom);
      atoms.push(...each);
      if (isExact) {
        chain.add(each);
        continue;
      }
      endRun();
      atoms = each;
      needs.push(...chain.over(atom, count, rest));
    }
    endRun();
    return [...needs, ...chain.end()];
  };
  const sequence = (): readonly Need[] => {
    const needs = [...runs()];
    while (rest.startsWith("(")) needs.push(...group(), ...runs());
    return needs;
  };
  const branches = (): readonly Need[] => {
    const all = [sequence()];
    while (rest.startsWith("|")) {
      rest = rest.slice(1);
      all.push(sequence());
    }
    if (all.length === 1) return all.flat();
    const each = all.map((needs) => best(needs, ({ text, weight }) => 100 * Math.min(text.length, 2) + weight));
    return each.some((need) => need === null) ? [] : [each.flatMap((need) => need ?? [])];
  };
  return branches();
}

/** Behind these stand letters that are no text. */
const readNeeds = (source: string) => (/\\[xucpPk\d]|\(\?[a-z-]/.test(source) ? [] : readPattern(source));

/**
 * Tells whether some line of a text may match, by its bytes in any encoding but the wide ones. null: the pattern does not
 * say what its matches hold.
 */
export function openSieve({ source, ignoreCase }: { readonly source: string; readonly ignoreCase: boolean }) {
  const sure = best(readNeeds(source), ({ text }) => text.length);
  if (sure === null || least(sure, ({ text }) => text.length) < 2) return null;
  if (!ignoreCase) {
    const wanted = sure.map(({ text }) => Buffer.from(text, "latin1"));
    return (bytes: Buffer): boolean => wanted.some((each) => bytes.includes(each));
  }
  const wanted = new RegExp(sure.map(({ text }) => text.replace(/[^\w\s]/g, "\\$&")).join("|"), "i");
  return (bytes: Buffer): boolean => wanted.test(bytes.toString("latin1"));
}

/** Patterns without repetitions and groups, which cannot be slow: all of them match in every line where this one does. */
export const plainPartsOf = (source: string): readonly string[] =>
  readNeeds(source).map((need) => need.map((run) => run.source).join("|"));
