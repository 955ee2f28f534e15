/** Reads a mistyped word of the request as the word that it is most likely meant for. Pure. */
import { distance } from "../suggest.ts";
import type { Commit } from "./similar-commits.ts";
import { stem, type Term } from "./words.ts";

/** A term that nothing in the project holds, and what is looked for in its place. */
export interface Mended {
  /** Its place among the terms. */
  readonly at: number;
  /** Stem of the word that is looked for. */
  readonly meant: string;
  /** The shortest word with this stem. */
  readonly word: string;
}

/** Shorter words have too many neighbours; in a short one another letter usually makes another word, as clone and close. */
const minLength = { any: 5, otherLetter: 7 } as const;
/** A word of commits counts from this many on: a single one may be mistyped itself. */
const minCommits = 2;
/** In larger projects hardly a word occurs nowhere, and gathering the words of all paths would take long. */
const maxPaths = 10_000;

interface Known {
  word: string;
  times: number;
}

/** By stem: the words in names of files and folders and in subjects of commits. */
function wordsIn(paths: readonly string[], commits: readonly Pick<Commit, "subject">[]): ReadonlyMap<string, Known> {
  const known = new Map<string, Known>();
  const stems = new Map<string, string>();
  const count = (text: string, share: number): void => {
    const split = text.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase();
    for (const [word] of split.matchAll(/[a-z]{4,}/g)) {
      const stemmed = stems.get(word) ?? stem(word);
      stems.set(word, stemmed);
      const own = known.get(stemmed) ?? { word, times: 0 };
      own.times += share;
      if (word.length < own.word.length) own.word = word;
      known.set(stemmed, own);
    }
  };
  for (const path of paths) count(path, 1);
  for (const { subject } of commits) count(subject, 1 / minCommits);
  return known;
}

const lettersOf = (word: string) => [...word].sort().join("");

/** Whether one step leads from a mistyped word to another: a letter too many or too few, two swapped, or one wrong. */
function isNear(word: string, other: string): boolean {
  if (word[0] !== other[0] || Math.abs(word.length - other.length) > 1) return false;
  if (distance(word, other, { swaps: true }) !== 1) return false;
  return word.length !== other.length || word.length >= minLength.otherLetter || lettersOf(word) === lettersOf(other);
}

/** The candidates that are in no path and no message. One text after another, since there are megabytes of messages. */
function withoutHeld<T extends { readonly word: string }>(
  candidates: readonly T[],
  paths: readonly string[],
  commits: readonly Pick<Commit, "subject" | "body">[],
): readonly T[] {
  let left = candidates;
  const look = (text: string): void => {
    const lower = text.toLowerCase();
    if (left.some(({ word }) => lower.includes(word))) left = left.filter(({ word }) => !lower.includes(word));
  };
  for (const path of paths) look(path);
  for (const { subject, body } of commits) {
    if (left.length === 0) break;
    look(subject);
    look(body);
  }
  return left;
}

/**
 * The words among the terms that neither a file nor a commit holds, where a word of names or commits is near.
 * `isFound`: whether a file holds the term with this place.
 */
export function findTypos(
  terms: readonly Term[],
  isFound: (at: number) => boolean,
  paths: readonly string[],
  commits: readonly Pick<Commit, "subject" | "body">[],
): readonly Mended[] {
  if (paths.length > maxPaths) return [];
  const candidates = terms.flatMap(({ spellings }, at) => {
    const [word = "", ...others] = spellings;
    return others.length === 0 && word.length >= minLength.any && /^[a-z]+$/.test(word) && !isFound(at)
      ? [{ at, word }]
      : [];
  });
  if (candidates.length === 0) return [];
  const unknown = withoutHeld(candidates, paths, commits);
  if (unknown.length === 0) return [];
  const known = wordsIn(paths, commits);
  const sought = new Set(terms.flatMap(({ spellings }) => spellings));
  return unknown.flatMap(({ at, word }): Mended[] => {
    const near = [...known].filter(([meant, { times }]) => times >= 1 && isNear(word, meant));
    const [best] = near.sort(([, a], [, b]) => b.times - a.times);
    return best === undefined || sought.has(best[0]) ? [] : [{ at, meant: best[0], word: best[1].word }];
  });
}

/** The terms with what their words were meant for. */
export const mendTerms = (terms: readonly Term[], mended: readonly Mended[]): readonly Term[] =>
  terms.map((term, place) => {
    const meant = mended.find(({ at }) => at === place)?.meant;
    return meant === undefined ? term : { ...term, spellings: [meant], needs: meant };
  });
