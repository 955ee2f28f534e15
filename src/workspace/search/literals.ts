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

/** Reads a valid pattern from left to right. */
function readPattern(source: string): readonly Need[] {
  let rest = source;
  /** What ended the run before, since it came more than once, and begins the next one. */
  let carried: readonly string[] = [];
  const take = (shape: RegExp): RegExpExecArray => {
    const found = shape.exec(rest) as RegExpExecArray;
    rest = rest.slice(found[0].length);
    return found;
  };
  const group = (): readonly Need[] => {
    const [open] = take(groupShape);
    carried = [];
    const inner = branches();
    carried = [];
    rest = rest.slice(1);
    const [times] = take(timesShape);
    return /[=!]$/.test(open) || !/^\+?\??$/.test(times) || times === "?" ? [] : inner;
  };
  /** Atoms up to a group, or to one whose number is not known. */
  const run = (): readonly Need[] => {
    const atoms = [...carried];
    carried = [];
    while (!/^(?:[|()]|$)/.test(rest)) {
      const [, atom = "", times] = take(atomShape);
      const { count, isExact } = countOf(times);
      const each = new Array<string>(count).fill(atom);
      atoms.push(...each);
      if (isExact) continue;
      carried = each;
      break;
    }
    const texts = atoms
      .map((atom) => literalOf(atom) ?? "\n")
      .join("")
      .split("\n");
    const text = texts.reduce((longest, each) => (each.length > longest.length ? each : longest), "");
    const weight = atoms.reduce((sum, atom) => sum + weigh(atom), 0);
    return weight === 0 ? [] : [[{ source: atoms.join(""), text, weight }]];
  };
  const sequence = (): readonly Need[] => {
    const needs: Need[] = [];
    while (!/^(?:[|)]|$)/.test(rest)) needs.push(...(rest.startsWith("(") ? group() : run()));
    carried = [];
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
