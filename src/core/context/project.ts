/** From a request to the files of a project in the order in which they matter, with the reasons. Pure but for the survey. */
import type { Entry, Survey, SurveyTally } from "../ports.ts";
import { scoreHistory } from "./history.ts";
import { kindWeights } from "./kind.ts";
import { type Ranking, rankFiles } from "./rank.ts";
import { findSignals } from "./signals.ts";
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
  readonly tally: SurveyTally;
  /** What the ranking had to do without, one clause each. */
  readonly lacks: readonly string[];
}

/** Up to so many files the history says nothing that is worth a child process. */
const fewFiles = 40;

/** Looks through the project once. `unranked`: paths that are shown anyway and need no place. */
export async function rankProject(
  survey: Survey,
  { request, output }: Asked,
  signal: AbortSignal,
  unranked: ReadonlySet<string> = new Set(),
): Promise<RankedProject> {
  const { entries, more } = await survey.list(signal);
  const paths = entries.flatMap(({ path, kind }) => (kind === "file" && !unranked.has(path) ? [path] : []));
  const terms = termsOf(request, output);
  const [tally, past] = await Promise.all([
    survey.tally(terms, signal),
    paths.length <= fewFiles ? null : survey.history(signal),
  ]);
  const history = past === null || past.commits.length === 0 ? null : scoreHistory(past.commits, terms, paths);
  const found = unranked.size === 0 ? tally.found : tally.found.filter(({ path }) => !unranked.has(path));
  const ranking = rankFiles({
    paths,
    terms,
    tally: { ...tally, found },
    history,
    signals: findSignals(request, output, paths),
    kinds: kindWeights(request),
  });
  return { entries, paths, more, terms, ranking, tally, lacks: lacksOf(more, tally, past?.lacks ?? null) };
}

function lacksOf(more: boolean, tally: SurveyTally, history: string | null): string[] {
  return [
    ...(more ? ["not all folders were looked at: there are too many files"] : []),
    ...(tally.unread > 0
      ? [`${tally.unread} files were ranked by their names alone: there was no time to read them`]
      : []),
    ...(history === null ? [] : [`history: ${history}`]),
  ];
}
