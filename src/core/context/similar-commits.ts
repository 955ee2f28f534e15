/** Scores files by the project's history: which files similar commits changed, how often each file changes. Pure. */

import { nameOf } from "../path.ts";
import { countInTexts } from "./count-in-texts.ts";
import type { Term } from "./words.ts";

/** A commit, as `git log` tells it. */
export interface Commit {
  readonly subject: string;
  readonly body: string;
  /** Paths it changed; when there are more than `maxFiles`, only some of them. */
  readonly files: readonly string[];
}

/** A commit whose message is like the request. */
export interface SimilarCommit {
  readonly subject: string;
  readonly files: readonly string[];
}

export interface HistoryScores {
  /** The most similar first. */
  readonly commits: readonly SimilarCommit[];
  /** By path: how much similar commits point to it; the largest is 1. */
  readonly similar: ReadonlyMap<string, number>;
  /** By path: logarithm of how often it was changed; that of the file changed most, if at least nine times, is 1. */
  readonly frequency: ReadonlyMap<string, number>;
}

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

/**
 * Maps a path of an old commit to where the file is now: the same path, or the only one with its name; null: gone. Only
 * paths in commits are looked up among those of the project, which may be very many.
 */
function openWhereabouts(commits: readonly Commit[], paths: Iterable<string>): (path: string) => string | null {
  const changed = new Set<string>();
  for (const { files } of commits) if (files.length <= maxFiles) for (const file of files) changed.add(file);
  const names = new Set([...changed].map(nameOf));
  const here = new Set<string>();
  const byName = new Map<string, string | null>();
  for (const path of paths) {
    const name = nameOf(path);
    if (!names.has(name)) continue;
    if (changed.has(path)) here.add(path);
    byName.set(name, byName.has(name) ? null : path);
  }
  return (path) => (here.has(path) ? path : (byName.get(nameOf(path)) ?? null));
}

/** Similarity of each commit's message to the terms: BM25, the subject counting twice. */
function similarities(commits: readonly Commit[], terms: readonly Term[]): Float64Array {
  const subjects = commits.map(({ subject }) => subject.toLowerCase());
  const bodies = commits.map(({ body }) => body.slice(0, 2_000).toLowerCase());
  const lengths = subjects.map((subject, at) => 2 * subject.length + (bodies[at]?.length ?? 0));
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  const [inSubjects, inBodies] = [countInTexts(subjects, terms, 50), countInTexts(bodies, terms, 50)];
  const scores = new Float64Array(commits.length);
  for (const [number, term] of terms.entries()) {
    const countIn = (at: number) => {
      const place = at * terms.length + number;
      return 2 * (inSubjects[place] ?? 0) + (inBodies[place] ?? 0);
    };
    let holding = 0;
    for (let at = 0; at < commits.length; at += 1) if (countIn(at) > 0) holding += 1;
    if (holding === 0) continue;
    const idf = Math.log(1 + (commits.length - holding + 0.5) / (holding + 0.5));
    for (let at = 0; at < commits.length; at += 1) {
      const count = countIn(at);
      if (count === 0) continue;
      const norm = bm25.k1 * (1 - bm25.b + (bm25.b * (lengths[at] ?? 0)) / mean);
      scores[at] = (scores[at] ?? 0) + (term.weight * idf * count * (bm25.k1 + 1)) / (count + norm);
    }
  }
  return scores;
}

function scale(values: Map<string, number>, least = 0): Map<string, number> {
  const largest = Math.max(least, ...values.values());
  if (largest > 0) for (const [path, value] of values) values.set(path, value / largest);
  return values;
}

function add(values: Map<string, number>, path: string | null, value: number): void {
  if (path !== null) values.set(path, (values.get(path) ?? 0) + value);
}

/** `commits`: the newest first. `paths`: the files that are there now. */
export function scoreHistory(
  commits: readonly Commit[],
  terms: readonly Term[],
  paths: Iterable<string>,
): HistoryScores {
  const whereIs = openWhereabouts(commits, paths);
  const scores = similarities(commits, terms);
  const best = [...scores]
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
  const used = best.flatMap(([at]) => commits[at] ?? []).map(({ subject, files }) => ({ subject, files }));
  return { commits: used, similar: scale(similar), frequency: scale(frequency, Math.log(1 + oftenChanged)) };
}
