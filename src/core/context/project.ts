/** Ranks the files of a project for a request, with the reasons. Pure, except for the survey. */
import type { Survey, SurveyTally } from "../ports.ts";
import { openDefinitions } from "./blocks.ts";
import { isProse, type Kind, kindWeights } from "./kind.ts";
import { type CountedFile, type Ranked, type Ranking, rankFiles } from "./rank.ts";
import { findSignals, mentionsOf, type Signal, withoutFiles } from "./signals.ts";
import { scoreHistory } from "./similar-commits.ts";
import { findStems } from "./stems.ts";
import { surveyLimits } from "./survey-limits.ts";
import { symbolsIn, termsOfSymbols } from "./symbols.ts";
import { termsOf } from "./words.ts";

export interface Asked {
  readonly request: string;
  /** Output of checks, standard input, a traceback; "" where there is none. */
  readonly output: string;
  /** The commands of the checks, which may name tests; absent: there are none. */
  readonly checks?: string;
}

/** What a file that a check names is worth, beside the score of its words: it is seldom the place of the work. */
const ofChecks = 0.3;

export function wordsOf({ request, output }: Asked) {
  const worded = termsOf(request, output);
  const symbols = symbolsIn(request, output);
  return { worded, symbols, terms: [...worded, ...termsOfSymbols(symbols)] };
}

interface RankParts {
  readonly survey: Survey;
  readonly words: ReturnType<typeof wordsOf>;
  readonly asked: Asked;
  readonly paths: readonly string[];
  /** Files that need no place: they are shown anyway, or never. */
  readonly unranked: ReadonlySet<string>;
  /** There are more entries, which were not listed. */
  readonly more: boolean;
  /** The text of a file; null: it cannot be read, or is not text. */
  readonly read: (path: string) => Promise<string | null>;
  readonly signal: AbortSignal;
}

export type RankedProject = Awaited<ReturnType<typeof rankProject>>;

export async function rankProject(parts: RankParts) {
  const { survey, words, asked, more, unranked, signal } = parts;
  const known = new Set([...parts.paths, ...unranked]);
  const paths = more ? [...parts.paths, ...findUnlisted(asked, known, survey)] : parts.paths;
  const listed = new Set(paths);
  const { worded, symbols, terms } = words;
  const { request, output, checks = "" } = asked;
  const [tally, past] = await Promise.all([
    survey.tally(signal),
    paths.length <= surveyLimits.filesWithoutHistory ? null : survey.history(signal),
  ]);
  const recorded = survey.recorded?.(terms) ?? null;
  const commits = past?.commits ?? [];
  const history = commits.length === 0 ? null : scoreHistory(commits, worded, listed);
  const found = unranked.size === 0 ? tally.found : tally.found.filter(({ path }) => !unranked.has(path));
  const kinds = kindWeights(request);
  const rank = async (): Promise<Ranking> => {
    const named = findSignals(request, output, paths);
    const matching = request.includes("*") ? findMatching(request, paths) : [];
    const checked = [...findSignals("", checks, paths)].map(
      ([path, signal]) => [path, { ...signal, weight: ofChecks, symbols: [] }] as const,
    );
    const signals = new Map([...checked, ...findStems(request, paths, kinds), ...matching, ...named]);
    const { files, values } = rankFiles({ paths: listed, terms, tally: { ...tally, found }, history, signals, kinds });
    const bare = withoutFiles(request, named);
    const meant = new Set((bare === request ? symbols : symbolsIn(bare, output)).map(({ name }) => name));
    if (symbols.length === 0) return { files, values };
    return { files: addDefiners(files, await findDefiners(parts, meant, found, files, kinds)), values };
  };
  return {
    paths,
    terms,
    ranking: recorded ?? (await rank()),
    survey,
    commits: recorded?.commits ?? history?.commits ?? [],
    /** What the ranking lacks, one clause each. */
    lacks: lacksOf(more, tally, past?.lacks ?? null),
  };
}

function lacksOf(more: boolean, tally: SurveyTally, history: string | null): string[] {
  return [
    ...(more ? ["not all folders were looked at: there are too many files"] : []),
    ...(tally.unread > 0
      ? [`${tally.unread} files were ranked by their names alone: there was no time to read them`]
      : []),
    ...(history === null ? [] : [`files to show are chosen without git's history: ${history}`]),
  ];
}

const weight = 1;
const maxPatterns = 8;
const max = { length: 200, asterisks: 6 } as const;
const word = /[^\s"'`();:]+/g;
/** Whether a word is a pattern of paths, with a folder or an ending, unlike `a*b`, `**bold**` and `/*`. */
const isPattern = (text: string) =>
  text.includes("*") &&
  text.length <= max.length &&
  text.split("*").length - 1 <= max.asterisks &&
  /\/|\.[\w{]/.test(text) &&
  /\p{L}|\p{N}/u.test(text);

/** By path: a signal for each file that a pattern of the request matches, at any depth if it names no folder. */
export function findMatching(request: string, paths: readonly string[]): Map<string, Signal> {
  const found = new Map<string, Signal>();
  const words = [...request.slice(0, 8_000).matchAll(word)].map(([each]) => each.replace(/[.,]+$/, ""));
  for (const pattern of [...new Set(words.filter(isPattern))].slice(0, maxPatterns)) {
    const bare = pattern.replace(/^\.?\//, "");
    const glob = new Bun.Glob(bare.includes("/") ? bare : `**/${bare}`);
    for (const path of paths) {
      if (!glob.match(path)) continue;
      const symbols = [...(found.get(path)?.symbols ?? []), pattern];
      found.set(path, { weight, lines: [], by: "request", symbols });
    }
  }
  return found;
}

const maxMentions = 50;

/** The ends of a path, the longest first: the path below the project's folder is one end of an absolute path. */
function* endsOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    yield text.slice(at);
    const slash = text.indexOf("/", at);
    at = slash < 0 ? text.length : slash + 1;
  }
}

export function findUnlisted(
  { request, output }: Asked,
  listed: ReadonlySet<string>,
  survey: Pick<Survey, "find">,
): string[] {
  const texts = [...new Set(mentionsOf(request, output).map(({ text }) => text))].slice(0, maxMentions);
  const found = texts.flatMap((text): string[] => {
    for (const end of endsOf(text)) {
      if (listed.has(end)) return [];
      const path = survey.find?.(end) ?? null;
      if (path !== null) return listed.has(path) ? [] : [path];
    }
    return [];
  });
  return [...new Set(found)];
}

/** A name that more files define points to none of them. */
const maxDefiners = 4;
/** How many of the likeliest files that hold a name are read. */
const maxRead = 40;

const inPart = /\p{L}|\p{N}|[_$]/u;
const constant =
  /^\s*(?:#\s*define\s+|(?:export\s+|pub\s+|static\s+|final\s+|public\s+|private\s+)*(?:var|const|let|val)\s+(?:mut\s+)?)((?:\p{L}|[_$])(?:\p{L}|\p{N}|[_$])*)/u;

/** Of a qualified name after one of these, only the last part is defined there: `defmodule Enum.Empty` is not Enum. */
const unit = /^\s*(?:\w+\s+)*(?:defmodule|module|class|namespace|package|interface|trait|struct|enum)\s/;
/** In these languages every file says its package, so that none defines it. */
const packaged = /\.(?:go|java|kt|kts|scala|groovy)$/;

function definedIn(line: string, path: string): string | null {
  if (packaged.test(path) && /^\s*package\s/.test(line)) return null;
  const [, value] = constant.exec(line) ?? [];
  if (value !== undefined) return value;
  return openDefinitions(path)(line);
}

function defines(line: string, path: string, name: string): boolean {
  const found = definedIn(line, path);
  if (found === null || found === name || isProse(path)) return found === name;
  const parts = found.split(/[.:#]+/).filter((part) => part !== "");
  return unit.test(line) ? parts.at(-1) === name : parts.includes(name);
}

/** The line, from 1, at which a source file defines a name; null: it does not, as far as pai can tell. */
export function lineDefining(path: string, text: string, name: string): number | null {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    if (inPart.test(text[at - 1] ?? " ") || inPart.test(text[at + name.length] ?? " ")) continue;
    const from = text.lastIndexOf("\n", at) + 1;
    const end = text.indexOf("\n", at);
    const line = text.slice(from, end < 0 ? undefined : end).replace(/\r$/, "");
    if (defines(line, path, name)) return text.slice(0, at).split("\n").length;
  }
  return null;
}

/**
 * By path: which names of the request and of the output the file defines, and in which lines. `meant`: those of the names
 * that are more than a part of a file's name. `found`: how often each file holds the words, and behind them the names.
 */
async function findDefiners(
  { words: { worded, symbols }, read }: RankParts,
  meant: ReadonlySet<string>,
  found: readonly CountedFile[],
  files: readonly Ranked[],
  kinds: Readonly<Record<Kind, number>>,
): Promise<Map<string, Signal>> {
  const countsOf = new Map(found.map(({ path, counts }) => [path, counts]));
  const holds = (path: string, at: number) => (countsOf.get(path)?.[worded.length + at] ?? 0) > 0;
  const isWanted = ({ path, kind }: Ranked) =>
    (kind === "code" || kinds[kind] >= 0.5 || symbols[0]?.by === "output") && symbols.some((_, at) => holds(path, at));
  const texts = await Promise.all(
    files
      .filter(isWanted)
      .slice(0, maxRead)
      .map(async ({ path }) => [path, await read(path)] as const),
  );
  const signals = new Map<string, Signal>();
  for (const [at, { name, by, weight }] of symbols.entries()) {
    if (!meant.has(name)) continue;
    const definers = texts.flatMap(([path, text]) => {
      // An output complains of code, not of a heading that happens to have its name.
      const isAside = by === "output" && isProse(path);
      const line = text === null || isAside || !holds(path, at) ? null : lineDefining(path, text, name);
      return line === null ? [] : [{ path, line }];
    });
    if (definers.length === 0 || definers.length > maxDefiners) continue;
    const share = weight / Math.sqrt(definers.length);
    for (const { path, line } of definers) {
      const known = signals.get(path);
      signals.set(path, {
        weight: Math.max(known?.weight ?? 0, share),
        lines: [...new Set([...(known?.lines ?? []), line])],
        by: known?.by ?? by,
        symbols: [...(known?.symbols ?? []), name],
        definitions: [...(known?.definitions ?? []), { name, line }],
      });
    }
  }
  return signals;
}

function joinSignals(known: Signal | null, more: Signal): Signal {
  if (known === null) return more;
  const { weight, by, symbols } = known;
  const lines = [...new Set([...known.lines, ...more.lines])];
  const definitions = more.definitions ?? [];
  if (symbols === undefined) return { weight, by, lines, definitions };
  const all = [...new Set([...symbols, ...(more.symbols ?? [])])];
  return { weight: weight + more.weight, by, lines, symbols: all, definitions };
}

function addDefiners(files: readonly Ranked[], definers: ReadonlyMap<string, Signal>): readonly Ranked[] {
  if (definers.size === 0) return files;
  const added = files.map((file): Ranked => {
    const more = definers.get(file.path);
    if (more === undefined) return file;
    const signal = joinSignals(file.signal, more);
    return { ...file, signal, score: file.score + signal.weight - (file.signal?.weight ?? 0) };
  });
  return added.sort((a, b) => b.score - a.score);
}
