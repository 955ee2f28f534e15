/** Files that a request, a traceback or the output of a check mentions directly, with the lines it names. Pure. */
import { nameOf } from "../path.ts";
import { linesTold, type Mention, mentionsIn, spacedIn } from "./mentions.ts";

export interface Signal {
  /** Added to the score of the file, which is otherwise at most about 2. */
  readonly weight: number;
  readonly lines: readonly number[];
  readonly by: "request" | "output";
  /** The names and patterns that led to the file; absent: the file itself is named. */
  readonly symbols?: readonly string[];
  /** Where it defines names that are named; its lines are among `lines`. */
  readonly definitions?: readonly Definition[];
}

export interface Definition {
  readonly name: string;
  /** From 1. */
  readonly line: number;
}

export const isNamed = (signal: Signal | null): boolean => signal !== null && signal.symbols === undefined;

const weights = { path: 3, name: 2, output: 1.5, outputLine: 2.2 } as const;
/** A bare name that this many files share refers to none of them. */
const maxNamesakes = 3;

const baseOf = (text: string) => nameOf(text).toLowerCase();

/** Documents that people call by their name alone: `README` is `README.md`, too. */
const document = /^(readme|licen[cs]e|copying|notice|authors|changelog)\.(?:md|markdown|rst|adoc|org|txt)$/;
/** Python's frames name installed copies; the project may keep its packages in a folder. */
const installed = /^.*\/(?:site|dist)-packages\/(?=[^/]+\/)/;

interface Named {
  readonly paths: readonly string[];
  readonly exact: boolean;
}

/** The files that a bare name means: of documents called by their name alone, those at the root. */
function pickCalled(name: string, same: readonly string[]): readonly string[] {
  const top = name.includes(".") ? [] : same.filter((path) => !path.includes("/"));
  if (top.length > 0) return top;
  return same.length <= maxNamesakes ? same : [];
}

/** Finds files by what a text calls them: their path, an absolute path that ends in it, or a name that few files have. */
function openFinder(paths: readonly string[]): (text: string) => Named {
  const byName = Map.groupBy(paths, baseOf);
  for (const [name, same] of byName) {
    const [, bare] = document.exec(name) ?? [];
    if (bare !== undefined) byName.set(bare, [...(byName.get(bare) ?? []), ...same]);
  }
  const find = (text: string): Named => {
    const same = byName.get(baseOf(text)) ?? [];
    if (same.includes(text)) return { paths: [text], exact: true };
    const lower = text.toLowerCase();
    if (text.includes("/")) {
      const ends = same.filter(
        (path) => `/${lower}`.endsWith(`/${path.toLowerCase()}`) || `/${path.toLowerCase()}`.endsWith(`/${lower}`),
      );
      const longest = ends.sort((a, b) => b.length - a.length);
      // An absolute path means the longest of its ends that is a file; a part of a path means all files that end in it.
      const isAll = longest.length <= maxNamesakes && (longest[0]?.length ?? 0) >= text.length;
      return { paths: isAll ? longest : longest.slice(0, 1), exact: true };
    }
    return { paths: pickCalled(lower, same), exact: false };
  };
  return (text) => {
    const found = find(text);
    return found.paths.length > 0 || !installed.test(text) ? found : find(text.replace(installed, ""));
  };
}

function weightOf(by: Signal["by"], isExact: boolean, hasLine: boolean): number {
  if (by === "request") return isExact ? weights.path : weights.name;
  return hasLine ? weights.outputLine : weights.output;
}

/** A request without the names of the files it names: `Cargo.toml` speaks of no `Cargo` and no `toml`. */
export function withoutFiles(request: string, signals: ReadonlyMap<string, Signal>): string {
  const named = [...signals].filter(([, signal]) => isNamed(signal) && signal.by === "request");
  const names = [...new Set(named.map(([path]) => baseOf(path)))].sort((a, b) => b.length - a.length);
  return names.reduce((text, name) => text.replace(new RegExp(RegExp.escape(name), "gi"), " "), request);
}

/** Everything in a request and its output that may be a path; with a space only if it is one of `paths`. */
export function mentionsOf(
  request: string,
  output: string,
  paths: readonly string[] = [],
): (Mention & Pick<Signal, "by">)[] {
  const read = (text: string, by: Signal["by"]) =>
    [...mentionsIn(text), ...spacedIn(text, paths)].map((mention) => ({ ...mention, by }));
  return [...read(request, "request"), ...read(linesTold(output).join("\n"), "output")];
}

/** By path, the signal of each mentioned file. `output`: of checks, tracebacks, standard input. */
export function findSignals(request: string, output: string, paths: readonly string[]): Map<string, Signal> {
  const found = new Map<string, Signal>();
  const mentions = mentionsOf(request, output, paths);
  if (mentions.length === 0) return found;
  const find = openFinder(paths);
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
