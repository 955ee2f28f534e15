/** Files that usually change together with the likeliest ones. Pure. */

import { type Kind, kindOf } from "./kind.ts";
import type { Ranked } from "./rank.ts";
import type { Commit } from "./similar-commits.ts";

/** How many of the first files bring company along, and how many of them company can never overtake. */
const leaders = 3;
const neverOvertaken = 5;
const companyShare = 0.6;
/** After `fading` newer commits, a commit counts 1/e; `minJoint` demands more than one common commit. */
const fading = 2000;
const minJoint = 1.5;
/**
 * Added to the number of commits, as if the leader had changed alone in them: two common commits out of two are not yet
 * certain company.
 */
const separateCommits = 3;
/** A commit of more files says little about any two of them. */
const maxFiles = 20;

interface Company {
  /** How often the file was changed; newer changes count more. */
  times: number;
  /** By path: how often the other file was changed in the same commit. */
  readonly joint: Map<string, number>;
}

/** The files that changed together with one file. */
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

/** By path: what is added to its score for changing together with the first files. */
function scoreCompany(
  files: readonly Ranked[],
  commits: readonly Commit[],
  kindAt: (path: string) => number,
): Map<string, number> {
  const added = new Map<string, number>();
  for (const { path: leader, score } of files) {
    const { times, joint } = companyOf(leader, commits);
    for (const [path, weight] of joint) {
      const value = weight < minJoint ? 0 : (companyShare * score * kindAt(path) * weight) / (times + separateCommits);
      if (value > 0) added.set(path, (added.get(path) ?? 0) + value);
    }
  }
  return added;
}

/** Adds to the ranking the files that change together with its first files; they never overtake the first five. */
export function addCompany(
  files: readonly Ranked[],
  commits: readonly Commit[],
  paths: readonly string[],
  kinds: Readonly<Record<Kind, number>>,
): readonly Ranked[] {
  const known = new Map(files.map((file) => [file.path, file]));
  const added = scoreCompany(files.slice(0, leaders), commits, (path) => kinds[known.get(path)?.kind ?? kindOf(path)]);
  const limit = files[neverOvertaken - 1]?.score;
  if (added.size === 0 || limit === undefined) return files;
  // One pass finds which of them still exist: there may be very many paths.
  const here = paths.filter((path) => added.has(path) && !known.has(path));
  const others = here.map((path): Ranked => {
    const none = { words: 0, history: 0, frequency: 0, signal: null };
    return { path, score: 0, kind: kindOf(path), ...none };
  });
  return [...files, ...others]
    .map((file) => {
      const more = added.get(file.path) ?? 0;
      if (more === 0 || file.score >= limit) return file;
      // Files that would overtake are put just below the limit, in the order of what was added.
      const score = Math.min(file.score + more, limit * (1 - 1e-6) + more * 1e-9);
      return { ...file, score, company: more };
    })
    .sort((a, b) => b.score - a.score);
}
