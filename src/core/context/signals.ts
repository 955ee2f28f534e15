/** Files that a request, a traceback or the output of a check names outright, with the lines it names. Pure. */
import { mentionsIn, withoutPassed } from "./mentions.ts";

export interface Signal {
  /** Added to the score of the file, which otherwise ends at about 2. */
  readonly weight: number;
  /** Lines that are named, from 1. */
  readonly lines: readonly number[];
  readonly by: "request" | "output";
  /** Names by which it was found that it defines, or is called after; absent: the file itself is named. */
  readonly symbols?: readonly string[];
}

/** Whether a file itself is named, and not only something in it. */
export const isNamed = (signal: Signal | null): boolean => signal !== null && signal.symbols === undefined;

const weights = { path: 3, name: 2, output: 1.5, outputLine: 2.2 } as const;
/** Characters at the end of an output that may name files. */
const outputTail = 12_000;
/** A bare name that this many files share refers to none of them. */
const maxNamesakes = 3;

const baseOf = (text: string) => text.slice(text.lastIndexOf("/") + 1).toLowerCase();

interface Named {
  readonly paths: readonly string[];
  /** By its path, or the end of one. */
  readonly exact: boolean;
}

/**
 * Finds the project's files by what a text calls them: their path, the end of an absolute one, or a name few files have.
 * `names`: the last parts of all that will be looked for, of which there are few, while there may be very many paths.
 */
function openFinder(names: ReadonlySet<string>, paths: readonly string[]): (text: string) => Named {
  const byPath = new Set<string>();
  const byName = new Map<string, string[]>();
  for (const path of paths) {
    const name = baseOf(path);
    if (!names.has(name)) continue;
    byPath.add(path);
    const same = byName.get(name);
    if (same === undefined) byName.set(name, [path]);
    else same.push(path);
  }
  return (text) => {
    if (byPath.has(text)) return { paths: [text], exact: true };
    const same = byName.get(baseOf(text)) ?? [];
    const lower = text.toLowerCase();
    if (text.includes("/")) {
      const ends = same.filter(
        (path) => `/${lower}`.endsWith(`/${path.toLowerCase()}`) || `/${path.toLowerCase()}`.endsWith(`/${lower}`),
      );
      const longest = ends.sort((a, b) => b.length - a.length);
      // Of an absolute path the longest end that is a file is meant; of a part of a path, all that end in it.
      const isAll = longest.length <= maxNamesakes && (longest[0]?.length ?? 0) >= text.length;
      return { paths: isAll ? longest : longest.slice(0, 1), exact: true };
    }
    return { paths: same.length <= maxNamesakes ? same : [], exact: false };
  };
}

function weightOf(by: Signal["by"], isExact: boolean, hasLine: boolean): number {
  if (by === "request") return isExact ? weights.path : weights.name;
  return hasLine ? weights.outputLine : weights.output;
}

/** `request`: what the person wrote. `output`: checks, tracebacks, standard input. */
export function findSignals(request: string, output: string, paths: readonly string[]): Map<string, Signal> {
  const found = new Map<string, Signal>();
  const told = output === "" ? [] : mentionsIn(withoutPassed(output.slice(-outputTail)));
  const mentions = [
    ...[...mentionsIn(request)].map((mention) => ({ ...mention, by: "request" as const })),
    ...[...told].map((mention) => ({ ...mention, by: "output" as const })),
  ];
  if (mentions.length === 0) return found;
  const find = openFinder(new Set(mentions.map(({ text }) => baseOf(text))), paths);
  for (const { text, line, by } of mentions) {
    const named = find(text);
    const weight = weightOf(by, named.exact, line !== null);
    for (const path of named.paths) {
      const known = found.get(path) ?? { weight, lines: [], by };
      const lines = line === null ? known.lines : [...new Set([...known.lines, line])];
      found.set(path, { weight: Math.max(known.weight, weight), by: known.by, lines });
    }
  }
  return found;
}
