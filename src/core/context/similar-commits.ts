/** Scores files by the project's history: which files similar commits changed, how often each file changes. Pure. */

import { nameOf } from "../path.ts";
import { openCounter, rarityOf, type Term } from "./words.ts";

export interface Commit {
  readonly subject: string;
  readonly body: string;
  /** Paths it changed; when there are more than `maxFiles`, only some of them. */
  readonly files: readonly string[];
}

export type SimilarCommit = Pick<Commit, "subject" | "files">;

const bm25 = { k1: 0.9, b: 0.6 } as const;
const similarCommits = 30;
/** After this many newer commits, a commit counts 1/e. */
const fading = 2000;
/** A file counts as often changed for what was done to it lately: its changes fade sooner than what commits say. */
const aging = 500;
/** How often the most changed file counts as changed at least, so that in a short history no file is often changed. */
const oftenChanged = 9;
/** A commit of more files says little about each, and is ignored. */
export const maxFiles = 40;

/** Maps a path of an old commit to where the file is now: the same path, or the only one with its name; null: gone. */
function openWhereabouts(paths: ReadonlySet<string>): (path: string) => string | null {
  /** null: several files have the name. */
  const byName = new Map<string, string | null>();
  for (const path of paths) {
    const name = nameOf(path);
    byName.set(name, byName.has(name) ? null : path);
  }
  return (path) => (paths.has(path) ? path : (byName.get(nameOf(path)) ?? null));
}

function similarities(commits: readonly Commit[], terms: readonly Term[]): readonly number[] {
  const count = openCounter(terms);
  const told = commits.map(({ subject, body }) => {
    const about = body.slice(0, 2_000);
    const [inSubject, inBody] = [count(subject.toLowerCase()), count(about.toLowerCase())];
    const counts = terms.map((_, at) => 2 * (inSubject?.[at] ?? 0) + (inBody?.[at] ?? 0));
    return { length: 2 * subject.length + about.length, counts };
  });
  const mean = told.reduce((sum, { length }) => sum + length, 0) / Math.max(1, told.length);
  const values = terms.map(({ weight }, at) => {
    const holding = told.filter(({ counts }) => (counts[at] ?? 0) > 0).length;
    return weight * rarityOf(holding, told.length);
  });
  return told.map(({ length, counts }) => {
    const norm = bm25.k1 * (1 - bm25.b + (bm25.b * length) / mean);
    return counts.reduce((sum, n, at) => sum + ((values[at] ?? 0) * n * (bm25.k1 + 1)) / (n + norm), 0);
  });
}

function scale(values: Map<string, number>, least = 0): ReadonlyMap<string, number> {
  const largest = Math.max(least, ...values.values());
  if (largest > 0) for (const [path, value] of values) values.set(path, value / largest);
  return values;
}

function add(values: Map<string, number>, path: string | null, value: number): void {
  if (path !== null) values.set(path, (values.get(path) ?? 0) + value);
}

export type HistoryScores = ReturnType<typeof scoreHistory>;

/** `commits`: the newest first. `paths`: the files that are there now. */
export function scoreHistory(commits: readonly Commit[], terms: readonly Term[], paths: ReadonlySet<string>) {
  const whereIs = openWhereabouts(paths);
  const scores = similarities(commits, terms);
  const best = scores
    .map((score, at) => [at, score] as const)
    .filter(([at, score]) => score > 0 && (commits[at]?.files.length ?? 0) <= maxFiles)
    .sort(([, a], [, b]) => b - a)
    .slice(0, similarCommits);
  const similar = new Map<string, number>();
  for (const [at, score] of best) {
    const files = commits[at]?.files ?? [];
    for (const file of files)
      add(similar, whereIs(file), (score * score * Math.exp(-at / fading)) / Math.sqrt(files.length));
  }
  const times = new Map<string, number>();
  for (const [age, { files }] of commits.entries()) {
    if (files.length > maxFiles) continue;
    for (const file of files) add(times, whereIs(file), Math.exp(-age / aging));
  }
  const frequency = new Map([...times].map(([path, n]) => [path, Math.log(1 + n)]));
  const used = best
    .flatMap(([at]) => commits[at] ?? [])
    .map(({ subject, files }): SimilarCommit => ({ subject, files }));
  // One commit that is very similar does not make the files of all others count for nothing.
  for (const [path, sum] of similar) similar.set(path, Math.sqrt(sum));
  return {
    commits: used,
    /** By path: how much similar commits point to it, the root of the sum of their shares; the largest is 1. */
    similar: scale(similar),
    /** By path: logarithm of how often it was changed; that of the file changed most, if at least nine times, is 1. */
    frequency: scale(frequency, Math.log(1 + oftenChanged)),
  };
}
