/** Ranks the files of a project for a request, with the reasons. Pure, except for the survey. */
import type { Survey, SurveyTally } from "../ports.ts";
import { addDefiners, findDefiners } from "./define.ts";
import { findMatching } from "./globs.ts";
import { kindWeights } from "./kind.ts";
import { type Ranking, rankFiles } from "./rank.ts";
import { findSignals, withoutFiles } from "./signals.ts";
import { type SimilarCommit, scoreHistory } from "./similar-commits.ts";
import { findStems } from "./stems.ts";
import { surveyLimits } from "./survey-limits.ts";
import { type NamedSymbol, symbolsIn, termsOfSymbols } from "./symbols.ts";
import { addCompany } from "./together.ts";
import { findUnlisted } from "./unlisted.ts";
import { type Term, termsOf } from "./words.ts";

/** The request, and other text that may name files. */
export interface Asked {
  readonly request: string;
  /** Output of checks, standard input, a traceback; "" where there is none. */
  readonly output: string;
}

/** A project whose files are ranked. */
export interface RankedProject {
  readonly paths: readonly string[];
  readonly terms: readonly Term[];
  readonly ranking: Ranking;
  /** Characters that showing all files takes; null: there are too many files to show them all. */
  readonly smallLength: number | null;
  readonly survey: Survey;
  /** The commits that influenced the ranking. */
  readonly commits: readonly SimilarCommit[];
  /** What the ranking lacks, one clause each. */
  readonly lacks: readonly string[];
}

/** The request, split into terms. */
export interface Words {
  readonly worded: readonly Term[];
  readonly symbols: readonly NamedSymbol[];
  /** `worded`, then the terms of `symbols`. */
  readonly terms: readonly Term[];
}

export function wordsOf({ request, output }: Asked): Words {
  const worded = termsOf(request, output);
  const symbols = symbolsIn(request, output);
  return { worded, symbols, terms: [...worded, ...termsOfSymbols(symbols)] };
}

/** A listed project, and what it is ranked for. */
export interface RankParts {
  readonly survey: Survey;
  readonly words: Words;
  readonly asked: Asked;
  /** The files to rank. */
  readonly paths: readonly string[];
  /** Files that need no place: they are shown anyway, or never. */
  readonly unranked: ReadonlySet<string>;
  /** There are more entries, which were not listed. */
  readonly more: boolean;
  /** The text of a file; null: it cannot be read, or is not text. */
  readonly read: (path: string) => Promise<string | null>;
  readonly signal: AbortSignal;
}

/** Looks through the files once and ranks them. */
export async function rankProject(parts: RankParts): Promise<RankedProject> {
  const { survey, words, asked, more, unranked, read, signal } = parts;
  const unlisted = more ? findUnlisted(asked, new Set([...parts.paths, ...unranked]), survey) : [];
  const paths = unlisted.length === 0 ? parts.paths : [...parts.paths, ...unlisted];
  const { worded, symbols, terms } = words;
  const { request, output } = asked;
  const [tally, past] = await Promise.all([
    survey.tally(signal),
    paths.length <= surveyLimits.filesWithoutHistory ? null : survey.history(signal),
  ]);
  const history = past === null || past.commits.length === 0 ? null : scoreHistory(past.commits, worded, paths);
  const found = unranked.size === 0 ? tally.found : tally.found.filter(({ path }) => !unranked.has(path));
  const kinds = kindWeights(request);
  const recorded = survey.recorded?.(terms) ?? null;
  const rank = async (): Promise<Ranking> => {
    const named = findSignals(request, output, paths);
    const matching = request.includes("*") ? findMatching(request, paths) : [];
    const signals = new Map([...findStems(request, paths, kinds), ...matching, ...named]);
    const { files, values } = rankFiles({ paths, terms, tally: { ...tally, found }, history, signals, kinds });
    const bare = withoutFiles(request, named);
    const meant = new Set((bare === request ? symbols : symbolsIn(bare, output)).map(({ name }) => name));
    const about = { symbols, meant, found, offset: worded.length, files, kinds, read };
    const defining = symbols.length === 0 ? files : addDefiners(files, await findDefiners(about));
    return { files: addCompany(defining, past?.commits ?? [], paths, kinds), values };
  };
  const isSmall = recorded?.whole ?? (tally.files <= surveyLimits.wholeFiles && tally.unread === 0);
  const length = recorded === null ? tally.totalLength + surveyLimits.fileCost * tally.files : 0;
  return {
    paths,
    terms,
    ranking: recorded ?? (await rank()),
    smallLength: isSmall ? length : null,
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
    ...(tally.lacks === undefined ? [] : [tally.lacks]),
    ...(history === null ? [] : [`history: ${history}`]),
  ];
}
