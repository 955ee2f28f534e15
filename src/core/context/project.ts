/** From a request to the files of a project in the order in which they matter, with the reasons. Pure but for the survey. */
import type { Entry, Survey, SurveyTally } from "../ports.ts";
import { addDefiners, findDefiners } from "./define.ts";
import { kindWeights } from "./kind.ts";
import { type Ranking, rankFiles } from "./rank.ts";
import { findSignals } from "./signals.ts";
import { type SimilarCommit, scoreHistory } from "./similar-commits.ts";
import { findStems } from "./stems.ts";
import { surveyLimits } from "./survey-view.ts";
import { symbolsIn, termsOfSymbols } from "./symbols.ts";
import { addCompany } from "./together.ts";
import { type Term, termsOf } from "./words.ts";

/** What is asked, and all that goes along and may name files. */
export interface Asked {
  readonly request: string;
  /** Output of checks, standard input, a traceback; "" where there is none. */
  readonly output: string;
}

export interface RankedProject {
  readonly entries: readonly Entry[];
  /** The files that have a place in the ranking, whether or not anything points at them. */
  readonly paths: readonly string[];
  /** There are more entries, which were not looked at. */
  readonly more: boolean;
  readonly terms: readonly Term[];
  readonly ranking: Ranking;
  /** Characters that it takes to show all files, where they are few; null: there are too many to show them all. */
  readonly smallLength: number | null;
  readonly survey: Survey;
  /** The commits that had a say in the ranking. */
  readonly commits: readonly SimilarCommit[];
  /** What the ranking had to do without, one clause each. */
  readonly lacks: readonly string[];
}

/** Files of a project that may be shown whole, and the characters that each costs beside its text. */
const small = { files: 60, fileCost: 60 } as const;

/** What a ranking is made with. */
export interface ProjectReader {
  readonly openSurvey: (terms: readonly Term[]) => Survey;
  /** The text of a file; null: it cannot be read, or is no text. */
  readonly read: (path: string) => Promise<string | null>;
}

/** Looks through the project once. `unranked`: paths that are shown anyway and need no place. */
export async function rankProject(
  { openSurvey, read }: ProjectReader,
  { request, output }: Asked,
  signal: AbortSignal,
  unranked: ReadonlySet<string> = new Set(),
): Promise<RankedProject> {
  const worded = termsOf(request, output);
  const symbols = symbolsIn(request, output);
  const terms = [...worded, ...termsOfSymbols(symbols)];
  const survey = openSurvey(terms);
  const { entries, more } = await survey.list(signal);
  const paths = entries.flatMap(({ path, kind }) => (kind === "file" && !unranked.has(path) ? [path] : []));
  const [tally, past] = await Promise.all([
    survey.tally(signal),
    paths.length <= surveyLimits.filesWithoutHistory ? null : survey.history(signal),
  ]);
  const history = past === null || past.commits.length === 0 ? null : scoreHistory(past.commits, worded, paths);
  const found = unranked.size === 0 ? tally.found : tally.found.filter(({ path }) => !unranked.has(path));
  const kinds = kindWeights(request);
  const recorded = survey.recorded ?? null;
  const rank = async (): Promise<Ranking> => {
    const signals = new Map([...findStems(request, paths, kinds), ...findSignals(request, output, paths)]);
    const { files, values } = rankFiles({ paths, terms, tally: { ...tally, found }, history, signals, kinds });
    const about = { symbols, found, offset: worded.length, files, kinds, read };
    const defining = symbols.length === 0 ? files : addDefiners(files, await findDefiners(about));
    return { files: addCompany(defining, past?.commits ?? [], paths, kinds), values };
  };
  const isSmall = recorded?.whole ?? (tally.files <= small.files && tally.unread === 0);
  const smallLength = isSmall ? (recorded === null ? tally.totalLength + small.fileCost * tally.files : 0) : null;
  return {
    entries,
    paths,
    more,
    terms,
    ranking: recorded ?? (await rank()),
    smallLength,
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
