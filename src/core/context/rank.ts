/** Ranks files for a request by its words in names and contents, similar commits, and direct mentions. Pure. */
import { countInTexts } from "./count-in-texts.ts";
import { type Kind, kindAmong, type Paths } from "./kind.ts";
import type { Signal } from "./signals.ts";
import type { HistoryScores, SimilarCommit } from "./similar-commits.ts";
import type { Term } from "./words.ts";

/** How often the terms occur in the body of one file. */
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
  /** The direct mention of the file, or of a name it defines; null: there is none. */
  readonly signal: Signal | null;
  /** Added to the score for commits that it shares with the first files; absent: nothing. */
  readonly company?: number;
}

export interface RankInput {
  readonly paths: readonly string[];
  readonly terms: readonly Term[];
  readonly tally: WordTally;
  readonly history: HistoryScores | null;
  readonly signals: ReadonlyMap<string, Signal>;
  readonly kinds: Readonly<Record<Kind, number>>;
}

const bm25 = { k1: 0.9, b: 0.4 } as const;
const occurrence = { body: 0.5, stem: 6, folder: 2 } as const;
const historyShare = 0.6;
const frequencyShare = 0.3;

interface PathHits {
  /** By path and term: 1 if the file's name contains it. */
  readonly inStem: Uint8Array;
  /** By folder and term. */
  readonly inFolder: Uint8Array;
  /** By path: the number of its folder. */
  readonly folderOf: Uint32Array;
}

/** A text, followed by itself without hyphens and underscores, so that `from-json` also holds `fromjson`. */
const withJoined = (text: string) => (/[-_]/.test(text) ? `${text} ${text.replace(/[-_]/g, "")}` : text);

function findInPaths(paths: readonly string[], terms: readonly Term[]): PathHits {
  const folderOf = new Uint32Array(paths.length);
  const folders = new Map<string, number>();
  const stems = paths.map((path, at) => {
    const lower = path.toLowerCase();
    const slash = lower.lastIndexOf("/") + 1;
    const dot = lower.indexOf(".", slash + 1);
    const folder = lower.slice(0, slash);
    const known = folders.get(folder) ?? folders.size;
    if (known === folders.size) folders.set(folder, known);
    folderOf[at] = known;
    return withJoined(lower.slice(slash, dot < 0 ? undefined : dot));
  });
  const inFolder = countInTexts([...folders.keys()].map(withJoined), terms, 1);
  return { inStem: countInTexts(stems, terms, 1), inFolder, folderOf };
}

/** By term: how many paths hold it. */
function countPaths({ inStem, inFolder, folderOf }: PathHits, terms: number): Uint32Array {
  const holding = new Uint32Array(terms);
  for (let path = 0; path < folderOf.length; path += 1) {
    const [stem, folder] = [path * terms, (folderOf[path] ?? 0) * terms];
    for (let at = 0; at < terms; at += 1)
      holding[at] = (holding[at] ?? 0) + ((inStem[stem + at] ?? 0) | (inFolder[folder + at] ?? 0));
  }
  return holding;
}

/** By term: how many bodies hold it. */
function countBodies({ found }: WordTally, terms: number): Uint32Array {
  const holding = new Uint32Array(terms);
  for (const { counts } of found)
    for (let at = 0; at < terms; at += 1) holding[at] = (holding[at] ?? 0) + ((counts[at] ?? 0) > 0 ? 1 : 0);
  return holding;
}

/** How rare each term is, by the number of files with it in their body, or in their path if those are more. */
function rarityOf(terms: readonly Term[], tally: WordTally, total: number, hits: PathHits): number[] {
  const [bodies, names] = [countBodies(tally, terms.length), countPaths(hits, terms.length)];
  return terms.map((_, at) => {
    const holding = Math.max(bodies[at] ?? 0, names[at] ?? 0);
    return Math.log(1 + (Math.max(total, holding) - holding + 0.5) / (holding + 0.5));
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
  /** One for each term: its weight times its rarity. */
  readonly values: readonly number[];
}

/** The ranking that a request was made from, kept so that a replay can make the same request. */
export interface KeptRanking {
  /** Hash of the terms it was made for; absent before it is recorded. */
  readonly key?: string;
  /** The first files of the ranking. */
  readonly files: readonly Ranked[];
  readonly values: readonly number[];
  /** The commits that influenced the ranking, the most similar first. Absent: none. */
  readonly commits?: readonly SimilarCommit[];
}

/** Scores all paths by words alone (BM25), not scaled; `telling`: the paths with a word that most files do not have. */
function scoreWords(
  { paths, terms, tally }: RankInput,
  numberOf: ReadonlyMap<string, number>,
): { scores: Float64Array; telling: Uint8Array; values: number[] } {
  const hits = findInPaths(paths, terms);
  const { inStem, inFolder, folderOf } = hits;
  const rarity = rarityOf(terms, tally, paths.length, hits);
  const values = terms.map(({ weight }, at) => weight * (rarity[at] ?? 0));
  const mean = tally.totalLength / Math.max(1, tally.files);
  const scores = new Float64Array(paths.length);
  const telling = new Uint8Array(paths.length);
  const score = (path: number, length: number, counts: ArrayLike<number> | null): void => {
    const norm = bm25.k1 * (1 - bm25.b + (bm25.b * length) / Math.max(1, mean));
    const [stem, folder] = [path * terms.length, (folderOf[path] ?? 0) * terms.length];
    let sum = 0;
    for (let at = 0; at < terms.length; at += 1) {
      const tf =
        occurrence.body * Math.min(50, counts?.[at] ?? 0) +
        occurrence.stem * (inStem[stem + at] ?? 0) +
        occurrence.folder * (inFolder[folder + at] ?? 0);
      if (tf === 0) continue;
      sum += ((values[at] ?? 0) * tf * (bm25.k1 + 1)) / (tf + norm);
      if ((rarity[at] ?? 0) >= rarityOfHalf) telling[path] = 1;
    }
    scores[path] = sum;
  };
  const isCounted = new Uint8Array(paths.length);
  for (const { path, length, counts } of tally.found) {
    const at = numberOf.get(path);
    if (at === undefined) continue;
    isCounted[at] = 1;
    score(at, length, counts);
  }
  for (const at of paths.keys()) if (isCounted[at] === 0) score(at, mean, null);
  return { scores, telling, values };
}

const byCodeUnit = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** How many files of a ranking are sorted; no caller looks at more. */
const maxRanked = 1_000;

/** A file's score before its kind is known. */
interface Guess extends Omit<Ranked, "kind" | "score"> {
  readonly guess: number;
}

/**
 * The best guesses, weighed by their kinds. No kind raises a guess above the largest weight, so in a large project most
 * files are never asked for their kind.
 */
function weigh(guesses: readonly Guess[], kinds: RankInput["kinds"], exists: Paths): Ranked[] {
  const largestWeight = Math.max(...Object.values(kinds));
  const files: Ranked[] = [];
  const bound = ({ guess, signal }: Guess) => largestWeight * guess + (signal?.weight ?? 0);
  let [sure, next] = [0, 0];
  for (const each of guesses.toSorted((a, b) => bound(b) - bound(a))) {
    if (files.length >= next && files.length >= maxRanked) {
      const limit = bound(each);
      sure = files.filter(({ score }) => score > limit).length;
      if (sure >= maxRanked) break;
      next = files.length + maxRanked;
    }
    const { guess, ...facts } = each;
    const kind = kindAmong(each.path, exists);
    files.push({ ...facts, kind, score: kinds[kind] * guess + (each.signal?.weight ?? 0) });
  }
  return files.sort((a, b) => b.score - a.score || byCodeUnit(a.path, b.path)).slice(0, maxRanked);
}

/** Ranks the files. A file that is mentioned directly comes before files that only share words. */
export function rankFiles(input: RankInput): Ranking {
  const { paths, history, signals, kinds } = input;
  const numberOf = new Map(paths.map((path, at) => [path, at]));
  const { scores, telling, values } = scoreWords(input, numberOf);
  const largest = scores.reduce((largest, score) => Math.max(largest, score), 0) || 1;
  const guesses: Guess[] = [];
  const isSure = paths.length > fewFiles && [...signals.values()].some(({ weight }) => weight >= sureWeight);
  for (const [at, path] of paths.entries()) {
    const words = (scores[at] ?? 0) / largest;
    const similar = history?.similar.get(path) ?? 0;
    const signal = signals.get(path) ?? null;
    // Beside a file that is surely meant, a word that is everywhere tells nothing.
    const isWorded = words > 0 && (telling[at] === 1 || !isSure);
    if (!isWorded && similar === 0 && signal === null) continue;
    const frequency = history?.frequency.get(path) ?? 0;
    const guess = (words + historyShare * similar) * (1 + frequencyShare * frequency);
    guesses.push({ path, words, history: similar, frequency, signal, guess });
  }
  return { files: weigh(guesses, kinds, numberOf), values };
}
