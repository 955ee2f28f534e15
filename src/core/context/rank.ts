/** Which files a request is about: its words in names and contents, similar commits, and what names a file outright. Pure. */
import type { HistoryScores, SimilarCommit } from "./history.ts";
import { type Kind, kindOf } from "./kind.ts";
import type { Signal } from "./signals.ts";
import { countTerm, type Term } from "./words.ts";

/** What the body of one file holds of the terms. */
export interface CountedFile {
  readonly path: string;
  /** Characters. */
  readonly length: number;
  /** Occurrences by term, at most 50 each. */
  readonly counts: ArrayLike<number>;
}

/** The same for all files that could be read; those that hold no term need no entry. */
export interface Tally {
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
  /** What names the file outright; null: nothing does. */
  readonly signal: Signal | null;
}

export interface RankInput {
  readonly paths: readonly string[];
  readonly terms: readonly Term[];
  readonly tally: Tally;
  readonly history: HistoryScores | null;
  readonly signals: ReadonlyMap<string, Signal>;
  readonly kinds: Readonly<Record<Kind, number>>;
}

const bm25 = { k1: 0.9, b: 0.4 } as const;
const occurrence = { body: 0.5, stem: 6, folder: 2 } as const;
const historyShare = 0.6;
const frequencyShare = 0.3;

interface PathHits {
  readonly stem: Float32Array;
  readonly folder: Float32Array;
}

/** A text, and behind it the same without hyphens and underscores: `from-json` holds `fromjson` too. */
const withJoined = (text: string) => (/[-_]/.test(text) ? `${text} ${text.replace(/[-_]/g, "")}` : text);

/** Where terms stand in paths; only paths with one have an entry. */
function findInPaths(paths: readonly string[], terms: readonly Term[]): Map<string, PathHits> {
  const found = new Map<string, PathHits>();
  const inFolder = new Map<string, Float32Array>();
  const look = (text: string) => Float32Array.from(terms, (term) => countTerm(text, term, 1));
  for (const path of paths) {
    const lower = path.toLowerCase();
    const slash = lower.lastIndexOf("/") + 1;
    const dot = lower.indexOf(".", slash + 1);
    const stem = look(withJoined(lower.slice(slash, dot < 0 ? undefined : dot)));
    const folders = lower.slice(0, slash);
    let folder = inFolder.get(folders);
    if (folder === undefined) {
      folder = look(withJoined(folders));
      inFolder.set(folders, folder);
    }
    if (stem.some((n) => n > 0) || folder.some((n) => n > 0)) found.set(path, { stem, folder });
  }
  return found;
}

/** By term: how many of these hold it. */
function countHolding(terms: readonly Term[], each: Iterable<(at: number) => number>): number[] {
  const holding = new Array<number>(terms.length).fill(0);
  for (const count of each) for (const at of holding.keys()) if (count(at) > 0) holding[at] = (holding[at] ?? 0) + 1;
  return holding;
}

/** How rare each term is: by files that hold it in their body, or in their path if those are more. */
function rarityOf(terms: readonly Term[], { found }: Tally, total: number, inPaths: Iterable<PathHits>): number[] {
  const bodies = countHolding(
    terms,
    found.map(
      ({ counts }) =>
        (at: number) =>
          counts[at] ?? 0,
    ),
  );
  const names = countHolding(
    terms,
    Array.from(
      inPaths,
      ({ stem, folder }) =>
        (at: number) =>
          (stem[at] ?? 0) + (folder[at] ?? 0),
    ),
  );
  return terms.map((_, at) => {
    const holding = Math.max(bodies[at] ?? 0, names[at] ?? 0);
    return Math.log(1 + (Math.max(total, holding) - holding + 0.5) / (holding + 0.5));
  });
}

export interface Ranking {
  /** Best first; only files that anything points at. */
  readonly files: readonly Ranked[];
  /** By term: its weight times its rarity. */
  readonly values: readonly number[];
}

/** What a request was made from, as it is kept to make it again. */
export interface KeptRanking {
  /** Of the terms it was made for; null where they do not matter. */
  readonly key?: string;
  /** The first files of the ranking. */
  readonly files: readonly Ranked[];
  readonly values: readonly number[];
  /** The project is so small that all of it was shown. */
  readonly whole: boolean;
  /** The commits of the history that had a say, the most similar first. Absent: none, or a receipt of before. */
  readonly commits?: readonly SimilarCommit[];
}

function scoreWords({ paths, terms, tally }: RankInput): { scores: Map<string, number>; values: number[] } {
  const inPaths = findInPaths(paths, terms);
  const rarity = rarityOf(terms, tally, paths.length, inPaths.values());
  const values = terms.map(({ weight }, at) => weight * (rarity[at] ?? 0));
  const mean = tally.totalLength / Math.max(1, tally.files);
  const scores = new Map<string, number>();
  const add = (path: string, length: number, counts: ArrayLike<number> | null) => {
    const hits = inPaths.get(path);
    const norm = bm25.k1 * (1 - bm25.b + (bm25.b * length) / Math.max(1, mean));
    let score = 0;
    for (let at = 0; at < terms.length; at += 1) {
      const tf =
        occurrence.body * Math.min(50, counts?.[at] ?? 0) +
        occurrence.stem * (hits?.stem[at] ?? 0) +
        occurrence.folder * (hits?.folder[at] ?? 0);
      if (tf > 0) score += ((values[at] ?? 0) * tf * (bm25.k1 + 1)) / (tf + norm);
    }
    if (score > 0) scores.set(path, score);
  };
  const counted = new Set<string>();
  for (const { path, length, counts } of tally.found) {
    counted.add(path);
    add(path, length, counts);
  }
  for (const path of inPaths.keys()) if (!counted.has(path)) add(path, mean, null);
  return { scores, values };
}

/** Whether a file is made from one beside it: `x.js` from `x.ts`, `x.d.ts` from `x.js`. */
function isTwin(path: string, exists: ReadonlySet<string>): boolean {
  if (!["js", "jsx", "ts"].some((ending) => path.endsWith(ending))) return false;
  const declared = /^(.*)\.d\.([mc]?)ts$/.exec(path);
  if (declared !== null)
    return exists.has(`${declared[1]}.${declared[2]}js`) || exists.has(`${declared[1]}.${declared[2]}ts`);
  const script = /^(.*)\.([mc]?)js(x?)$/.exec(path);
  if (script === null) return false;
  const [, stem, module, x] = script;
  return exists.has(`${stem}.${module}ts${x}`) || exists.has(`${stem}.${module}tsx`);
}

const byCodeUnit = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Ranks the files. What is named outright comes before all that is only guessed. */
export function rankFiles(input: RankInput): Ranking {
  const { history, signals, kinds } = input;
  const { scores, values } = scoreWords(input);
  const largest = Math.max(0, ...scores.values()) || 1;
  const exists = new Set(input.paths);
  const candidates = new Set([...scores.keys(), ...(history?.similar.keys() ?? []), ...signals.keys()]);
  const files = [...candidates]
    .filter((path) => exists.has(path))
    .map((path): Ranked => {
      const kind = isTwin(path, exists) ? "generated" : kindOf(path);
      const signal = signals.get(path) ?? null;
      const words = (scores.get(path) ?? 0) / largest;
      const similar = history?.similar.get(path) ?? 0;
      const frequency = history?.frequency.get(path) ?? 0;
      const guessed = kinds[kind] * (words + historyShare * similar) * (1 + frequencyShare * frequency);
      return { path, kind, words, history: similar, frequency, signal, score: guessed + (signal?.weight ?? 0) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || byCodeUnit(a.path, b.path));
  return { files, values };
}
