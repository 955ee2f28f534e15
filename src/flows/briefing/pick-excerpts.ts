/** Picks the files and parts of files that a briefing shows: the likeliest ones. */
import { type Candidate, chooseExcerpts } from "../../core/context/excerpts.ts";
import { isShowable, isTable, type Kind, kindAmong } from "../../core/context/kind.ts";
import type { RankedProject } from "../../core/context/project.ts";
import type { Ranked } from "../../core/context/rank.ts";
import { isNamed } from "../../core/context/signals.ts";
import type { RelPath } from "../../core/path.ts";
import type { Run } from "../run.ts";
import { hideSource, type ReadText, readSource, type Source } from "./sources.ts";

const limits = {
  /** How many files are shown, in whole or in part, when there is not room for all. */
  excerpts: 12,
  /** In a project with few files: files without any signal are shown up to this many characters. */
  unsignalled: 3_000,
};

interface Chosen extends Candidate {
  readonly source: Source;
}

/** The signal of files without any: in a project with few files, they may fill the room that is left. */
const unsignalled = { weight: 0, lines: [], by: "output" } as const;

const isWanted = ({ signal }: Pick<Ranked, "signal">) => isNamed(signal) && signal !== unsignalled;

function allOf(paths: readonly string[], likely: readonly Ranked[], request: string) {
  const ranked = new Set(likely.map(({ path }) => path));
  const exists = new Set(paths);
  const rest = paths
    .map((path) => ({ path, kind: kindAmong(path, exists), score: 0.1, signal: unsignalled }))
    .filter(({ path, kind }) => !ranked.has(path) && isShowable(path, kind, request));
  const isCode = ({ kind }: { readonly kind: Kind }) => kind === "code";
  return [...likely, ...rest.filter(isCode), ...rest.filter((file) => !isCode(file))];
}

async function readCandidates(run: Run, { ranking, paths }: RankedProject, readText: ReadText): Promise<Chosen[]> {
  const { text: request } = run.task;
  const likely = ranking.files.filter(({ path, kind, signal }) => isNamed(signal) || isShowable(path, kind, request));
  const best = likely.slice(0, limits.excerpts);
  const named = likely
    .slice(limits.excerpts)
    .filter(({ signal }) => isNamed(signal) && signal?.by === "request")
    .slice(0, limits.excerpts);
  const wanted: readonly Pick<Ranked, "path" | "score" | "signal">[] =
    paths.length <= limits.excerpts ? allOf(paths, likely, request) : [...best, ...named];
  const read = await Promise.all(
    wanted.map(async (ranked): Promise<Chosen[]> => {
      // A file that is named is read even if it is large, up to the limit of one read.
      const path = ranked.path as RelPath;
      const source = (await readText(path)) ?? (isWanted(ranked) ? await readSource(run, path) : null);
      if (source === null) return [];
      const size = source.text.length;
      if (ranked.signal === unsignalled && (size === 0 || size > limits.unsignalled)) return [];
      return [{ ranked, source, text: source.text }];
    }),
  );
  // Hidden in the order of the files, since names of secrets must not depend on which file was read first.
  const chosen = read.flat().filter((each) => isWanted(each.ranked) || !isTable(each.ranked.path, each.text));
  return chosen.map((each) => {
    const source = hideSource(run, each.source);
    return { ...each, source, text: source.text };
  });
}

export async function pickExcerpts(run: Run, project: RankedProject, readText: ReadText, maxLength: number) {
  const { terms, ranking } = project;
  const candidates = await readCandidates(run, project, readText);
  const chosen = chooseExcerpts(candidates, { terms, values: ranking.values }, maxLength);
  const sources = new Map<string, Source>(candidates.map(({ source }) => [source.path, source]));
  return chosen.flatMap(({ path, text, whole, ranges, totalLines }) => {
    const source = sources.get(path);
    return source === undefined ? [] : [{ ...source, shown: text, ...(whole ? {} : { part: { ranges, totalLines } }) }];
  });
}
