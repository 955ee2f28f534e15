/** Ranks files for a request by its words in names and contents, similar commits, and direct mentions. Pure. */
import { type Kind, kindAmong } from "./kind.ts";
import type { Signal } from "./signals.ts";
import type { HistoryScores, SimilarCommit } from "./similar-commits.ts";
import { openCounter, rarityOf, type Term } from "./words.ts";

export interface CountedFile {
  readonly path: string;
  /** Characters. */
  readonly length: number;
  /** Occurrences by term, at most 50 each. */
  readonly counts: ArrayLike<number>;
}

/** The counts of all files that could be read; a file without any term needs no entry. */
export interface WordTally {
  readonly files: number;
  readonly totalLength: number;
  readonly found: readonly CountedFile[];
}

export interface Ranked {
  readonly path: string;
  readonly score: number;
  readonly kind: Kind;
  /** The parts of the score, each from 0 to 1: words, similar commits, how often it changes. */
  readonly words: number;
  readonly history: number;
  readonly frequency: number;
  readonly signal: Signal | null;
}

interface RankInput {
  readonly paths: ReadonlySet<string>;
  readonly terms: readonly Term[];
  readonly tally: WordTally;
  readonly history: HistoryScores | null;
  readonly signals: ReadonlyMap<string, Signal>;
  readonly kinds: Readonly<Record<Kind, number>>;
}

const bm25 = { k1: 0.9, b: 0.4 } as const;
const occurrence = { body: 0.5, stem: 6, folder: 2 } as const;
const historyShare = 0.35;
const frequencyShare = 0.2;

/** Occurrences by term in a name or body; null: none of any term. */
type Counts = ArrayLike<number> | null;

const countOf = (counts: Counts, term: number): number => counts?.[term] ?? 0;
const isHeld = (counts: Counts, term: number): boolean => countOf(counts, term) > 0;

/** A text, followed by itself without hyphens and underscores, so that `from-json` also holds `fromjson`. */
const withJoined = (text: string) => (/[-_]/.test(text) ? `${text} ${text.replace(/[-_]/g, "")}` : text);

function findInPaths(paths: ReadonlySet<string>, terms: readonly Term[]) {
  const count = openCounter(terms);
  const folders = new Map<string, Counts>();
  return Array.from(paths, (path) => {
    const lower = path.toLowerCase();
    const slash = lower.lastIndexOf("/") + 1;
    const dot = lower.indexOf(".", slash + 1);
    const folder = lower.slice(0, slash);
    if (!folders.has(folder)) folders.set(folder, count(withJoined(folder)));
    const stem = lower.slice(slash, dot < 0 ? undefined : dot);
    return { path, inStem: count(withJoined(stem)), inFolder: folders.get(folder) ?? null };
  });
}

/** How rare each term is, by the number of files with it in their body, or in their path if those are more. */
function raritiesOf(terms: readonly Term[], { found }: WordTally, hits: ReturnType<typeof findInPaths>): number[] {
  const named = hits.filter(({ inStem, inFolder }) => inStem !== null || inFolder !== null);
  return terms.map((_, at) => {
    const bodies = found.filter(({ counts }) => isHeld(counts, at)).length;
    const names = named.filter(({ inStem, inFolder }) => isHeld(inStem, at) || isHeld(inFolder, at)).length;
    const holding = Math.max(bodies, names);
    return rarityOf(holding, Math.max(hits.length, holding));
  });
}

/** The weight of a file that a request names, or of a line that an output names. */
const sureWeight = 2;
/** Among so few files "most" means little, and all of them may be shown. */
const fewFiles = 12;
/** How rare a word is that half of the files have. */
const rarityOfHalf = Math.LN2;

export interface Ranking {
  /** Best first, at most 1,000; only files with a term, a similar commit or a signal. */
  readonly files: readonly Ranked[];
  readonly values: readonly number[];
}

/** The ranking that a request was made from, kept so that a replay can make the same request. */
export interface KeptRanking extends Ranking {
  /** Hash of the terms it was made for; absent before it is recorded. */
  readonly key?: string;
  /** The commits that influenced the ranking, the most similar first. Absent: none. */
  readonly commits?: readonly SimilarCommit[];
}

/** Scores all paths by words alone (BM25), not scaled; `telling`: the paths with a word that most files do not have. */
function scoreWords({ paths, terms, tally }: RankInput) {
  const hits = findInPaths(paths, terms);
  const rarity = raritiesOf(terms, tally, hits);
  const values = terms.map(({ weight }, at) => weight * (rarity[at] ?? 0));
  const mean = tally.totalLength / Math.max(1, tally.files);
  const bodies = new Map(tally.found.map((file) => [file.path, file]));
  const scored = hits.map(({ path, inStem, inFolder }) => {
    const { length, counts } = bodies.get(path) ?? { length: mean, counts: null };
    const norm = bm25.k1 * (1 - bm25.b + (bm25.b * length) / Math.max(1, mean));
    let [score, isTelling] = [0, false];
    for (let at = 0; at < terms.length; at += 1) {
      const tf =
        occurrence.body * Math.min(50, countOf(counts, at)) +
        (isHeld(inStem, at) ? occurrence.stem : 0) +
        (isHeld(inFolder, at) ? occurrence.folder : 0);
      if (tf === 0) continue;
      score += ((values[at] ?? 0) * tf * (bm25.k1 + 1)) / (tf + norm);
      isTelling ||= (rarity[at] ?? 0) >= rarityOfHalf;
    }
    return { path, score, isTelling };
  });
  return { scored, values };
}

const byCodeUnit = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** How many files a ranking has; no caller looks at more. */
const maxRanked = 1_000;

export function rankFiles(input: RankInput): Ranking {
  const { paths, history, signals, kinds } = input;
  const { scored, values } = scoreWords(input);
  const largest = scored.reduce((largest, { score }) => Math.max(largest, score), 0) || 1;
  const isSure = paths.size > fewFiles && [...signals.values()].some(({ weight }) => weight >= sureWeight);
  const files = scored.flatMap(({ path, score, isTelling }): Ranked[] => {
    const words = score / largest;
    const similar = history?.similar.get(path) ?? 0;
    const signal = signals.get(path) ?? null;
    // Beside a file that is surely meant, a word that is everywhere tells nothing.
    const isWorded = words > 0 && (isTelling || !isSure);
    if (!isWorded && similar === 0 && signal === null) return [];
    const frequency = history?.frequency.get(path) ?? 0;
    const guess = (words + historyShare * similar) * (1 + frequencyShare * frequency);
    const kind = kindAmong(path, paths);
    const total = kinds[kind] * guess + (signal?.weight ?? 0);
    return [{ path, score: total, kind, words, history: similar, frequency, signal }];
  });
  files.sort((a, b) => b.score - a.score || byCodeUnit(a.path, b.path));
  return { files: files.slice(0, maxRanked), values };
}

/** Factor on the number of hits to search, so that hits in likely files are among them. */
export const widerSearch = 5;

/** As many hits as asked for, those in likely files first. `likely`: paths, the likeliest first. */
export function likelyFirst<
  Report extends { readonly hits: readonly { readonly path: string }[]; readonly more: boolean },
>(report: Report, maxHits: number, likely: readonly string[]): Report {
  const places = new Map(likely.map((path, at) => [path, at] as const));
  const placeOf = (path: string) => places.get(path) ?? places.size;
  const hits = report.hits.toSorted((a, b) => placeOf(a.path) - placeOf(b.path));
  return { ...report, hits: hits.slice(0, maxHits), more: report.more || hits.length > maxHits };
}
