/** Ranks the files of a project for a request, with the reasons. Pure, except for the survey. */
import type { Survey, SurveyTally } from "../ports.ts";
import { addDefiners, findDefiners } from "./define.ts";
import { kindWeights } from "./kind.ts";
import { type Ranking, rankFiles } from "./rank.ts";
import { findSignals, mentionsOf, type Signal, withoutFiles } from "./signals.ts";
import { type SimilarCommit, scoreHistory } from "./similar-commits.ts";
import { findStems } from "./stems.ts";
import { surveyLimits } from "./survey-limits.ts";
import { type NamedSymbol, symbolsIn, termsOfSymbols } from "./symbols.ts";
import { type Term, termsOf } from "./words.ts";

export interface Asked {
  readonly request: string;
  /** Output of checks, standard input, a traceback; "" where there is none. */
  readonly output: string;
  /** The commands of the checks, which may name tests; absent: there are none. */
  readonly checks?: string;
}

/** What a file that a check names is worth, beside the score of its words: it is seldom the place of the work. */
const ofChecks = 0.3;

export interface RankedProject {
  readonly paths: readonly string[];
  readonly terms: readonly Term[];
  readonly ranking: Ranking;
  readonly survey: Survey;
  readonly commits: readonly SimilarCommit[];
  /** What the ranking lacks, one clause each. */
  readonly lacks: readonly string[];
}

export interface Words {
  readonly worded: readonly Term[];
  readonly symbols: readonly NamedSymbol[];
  readonly terms: readonly Term[];
}

export function wordsOf({ request, output }: Asked): Words {
  const worded = termsOf(request, output);
  const symbols = symbolsIn(request, output);
  return { worded, symbols, terms: [...worded, ...termsOfSymbols(symbols)] };
}

export interface RankParts {
  readonly survey: Survey;
  readonly words: Words;
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

const withUnlisted = ({ paths, unranked, asked, survey }: RankParts): readonly string[] => [
  ...paths,
  ...findUnlisted(asked, new Set([...paths, ...unranked]), survey),
];

export async function rankProject(parts: RankParts): Promise<RankedProject> {
  const { survey, words, asked, more, unranked, read, signal } = parts;
  const paths = more ? withUnlisted(parts) : parts.paths;
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
    const about = { symbols, meant, found, offset: worded.length, files, kinds, read };
    return { files: symbols.length === 0 ? files : addDefiners(files, await findDefiners(about)), values };
  };
  return {
    paths,
    terms,
    ranking: recorded ?? (await rank()),
    survey,
    commits: recorded?.commits ?? history?.commits ?? [],
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
  { request, output }: { readonly request: string; readonly output: string },
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
