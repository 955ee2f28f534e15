/** Files that a request, a traceback or the output of a check names outright, with the lines it names. Pure. */

export interface Signal {
  /** Added to the score of the file, which otherwise ends at about 2. */
  readonly weight: number;
  /** Lines that are named, from 1. */
  readonly lines: readonly number[];
  readonly by: "request" | "output";
}

const weights = { path: 3, name: 2, output: 1.5 } as const;
/** Characters at the end of an output that may name files. */
const outputTail = 12_000;
/** A bare name that so many files have names none of them. */
const maxNamesakes = 3;

const word = /[\p{L}\p{N}_.@+/\\~[\]()$-]+/gu;
/** A path ends here: what follows may be a line, as `:12`, `(12,`, `", line 12` or `#L12`. */
const lineBehind = /^(?:["'`]?,? ?\(?line |:|\(|#L)(\d{1,6})/;

interface Mention {
  readonly text: string;
  readonly line: number | null;
}

/** Words of a text that may be paths: they hold a dot or a slash. */
function* mentionsIn(text: string): Generator<Mention> {
  for (const { 0: found, index } of text.matchAll(word)) {
    const bare = found
      .replace(/[(:].*$/, "")
      .replace(/[.)\]]+$/, "")
      .replaceAll("\\", "/");
    if (!/[./]/.test(bare) && !/^[A-Z]\w+file$/.test(bare)) continue;
    const behind = text.slice(index + bare.length, index + bare.length + 24);
    const line = lineBehind.exec(behind)?.[1];
    yield { text: bare.replace(/^(?:\.\/)+/, ""), line: line === undefined ? null : Number(line) };
  }
}

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
      return { paths: longest.length <= maxNamesakes ? longest : longest.slice(0, 1), exact: true };
    }
    return { paths: same.length <= maxNamesakes ? same : [], exact: false };
  };
}

/** `request`: what the person wrote. `output`: checks, tracebacks, standard input. */
export function findSignals(request: string, output: string, paths: readonly string[]): Map<string, Signal> {
  const found = new Map<string, Signal>();
  const mentions = [
    ...Array.from(mentionsIn(request), (mention) => ({ ...mention, by: "request" as const })),
    ...Array.from(mentionsIn(output.slice(-outputTail)), (mention) => ({ ...mention, by: "output" as const })),
  ];
  if (mentions.length === 0) return found;
  const find = openFinder(new Set(mentions.map(({ text }) => baseOf(text))), paths);
  for (const { text, line, by } of mentions) {
    const named = find(text);
    const weight = by === "output" ? weights.output : named.exact ? weights.path : weights.name;
    for (const path of named.paths) {
      const known = found.get(path) ?? { weight, lines: [], by };
      const lines = line === null ? known.lines : [...new Set([...known.lines, line])];
      found.set(path, { weight: Math.max(known.weight, weight), by: known.by, lines });
    }
  }
  return found;
}
