/** Files that usually change together with the likeliest ones. Pure. */

import { type Kind, kindOf } from "./kind.ts";
import type { Ranked } from "./rank.ts";
import type { Commit } from "./similar-commits.ts";

/** The likeliest files whose company counts; none of it comes before the first `kept`, which the request itself points at. */
const leaders = 3;
const kept = 5;
const share = 0.6;
/** Commits until one counts 1/e; it takes more than one to make company. */
const fading = 2000;
const least = 1.5;
/**
 * Commits that are added to the count as if the two files had changed separately, so that two common commits out of two
 * are not yet certain.
 */
const apart = 3;
/** A commit of more files says little about two of them. */
const maxFiles = 20;

interface Company {
  /** How often the file was changed, the latest times counting most. */
  times: number;
  /** By path: how often with it. */
  readonly joint: Map<string, number>;
}

/** What the commits say of one file. */
function companyOf(path: string, commits: readonly Commit[]): Company {
  const company: Company = { times: 0, joint: new Map() };
  for (const [age, { files }] of commits.entries()) {
    if (files.length > maxFiles || !files.includes(path)) continue;
    const weight = Math.exp(-age / fading);
    company.times += weight;
    for (const other of files) if (other !== path) company.joint.set(other, (company.joint.get(other) ?? 0) + weight);
  }
  return company;
}

/** By path: what its company adds to its score. */
function scoreCompany(
  files: readonly Ranked[],
  commits: readonly Commit[],
  kindAt: (path: string) => number,
): Map<string, number> {
  const added = new Map<string, number>();
  for (const { path: leader, score } of files) {
    const { times, joint } = companyOf(leader, commits);
    for (const [path, weight] of joint) {
      const value = weight < least ? 0 : (share * score * kindAt(path) * weight) / (times + apart);
      if (value > 0) added.set(path, (added.get(path) ?? 0) + value);
    }
  }
  return added;
}

/** The ranking with the company of its first files, which never comes before what the request itself points at most. */
export function addCompany(
  files: readonly Ranked[],
  commits: readonly Commit[],
  paths: readonly string[],
  kinds: Readonly<Record<Kind, number>>,
): readonly Ranked[] {
  const known = new Map(files.map((file) => [file.path, file]));
  const added = scoreCompany(files.slice(0, leaders), commits, (path) => kinds[known.get(path)?.kind ?? kindOf(path)]);
  const limit = files[kept - 1]?.score;
  if (added.size === 0 || limit === undefined) return files;
  // Which of them are there still is looked up in one go: there may be very many paths.
  const here = paths.filter((path) => added.has(path) && !known.has(path));
  const others = here.map((path): Ranked => {
    const none = { words: 0, history: 0, frequency: 0, signal: null };
    return { path, score: 0, kind: kindOf(path), ...none };
  });
  return [...files, ...others]
    .map((file) => {
      const more = added.get(file.path) ?? 0;
      if (more === 0 || file.score >= limit) return file;
      // A little below, in the order of what was added.
      const score = Math.min(file.score + more, limit * (1 - 1e-6) + more * 1e-9);
      return { ...file, score, company: more };
    })
    .sort((a, b) => b.score - a.score);
}
