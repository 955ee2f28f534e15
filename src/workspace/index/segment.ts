/** A part of the index: which words some files contain and how often, packed so that it is searched in place. Pure. */
import { countTerm, type Term } from "../../core/context/words.ts";

/** A segment as it is stored. */
export interface Segment {
  /** Words in lower case, each followed by a line feed. */
  readonly vocabulary: string;
  /** For each word the start of its postings; the last value is the end of all. */
  readonly offsets: Uint32Array;
  /**
   * For each word pairs of file and count, as varints of 7 bits a byte; a file is stored as the difference to the last
   * one.
   */
  readonly postings: Uint8Array;
}

const maxWord = 96;
const maxCount = 50;
/** Whether a character code is part of a word: lower-case letters, digits, `_`, `$` and everything outside ASCII. */
const inWord = Uint8Array.from({ length: 128 }, (_, code) =>
  (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 95 || code === 36 ? 1 : 0,
);

/** Words of a lower-case text with their numbers of occurrences. */
function countWords(lower: string): Map<string, number> {
  const counts = new Map<string, number>();
  let from = -1;
  for (let at = 0; at <= lower.length; at += 1) {
    const code = at < lower.length ? lower.charCodeAt(at) : 0;
    if (code > 127 || inWord[code] === 1) {
      if (from < 0) from = at;
    } else if (from >= 0) {
      const word = lower.slice(from, Math.min(at, from + maxWord));
      counts.set(word, (counts.get(word) ?? 0) + 1);
      from = -1;
    }
  }
  return counts;
}

interface Posted {
  readonly bytes: number[];
  last: number;
}

function pushNumber(bytes: number[], value: number): void {
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
}

export interface SegmentBuilder {
  /** Characters added so far. */
  readonly length: number;
  readonly files: number;
  /** Adds a text; returns the number of its file in this segment, from 0. */
  add(lower: string): number;
  build(): Segment;
}

export function createSegment(): SegmentBuilder {
  const words = new Map<string, Posted>();
  let [length, files] = [0, 0];
  return {
    get length() {
      return length;
    },
    get files() {
      return files;
    },
    add(lower) {
      for (const [word, count] of countWords(lower)) {
        let posted = words.get(word);
        if (posted === undefined) {
          // The word is copied, as a slice would keep the whole text in memory.
          posted = { bytes: [], last: -1 };
          words.set(Buffer.from(word).toString(), posted);
        }
        pushNumber(posted.bytes, files - posted.last);
        pushNumber(posted.bytes, Math.min(maxCount, count));
        posted.last = files;
      }
      length += lower.length;
      files += 1;
      return files - 1;
    },
    build() {
      const offsets = new Uint32Array(words.size + 1);
      let [at, total] = [0, 0];
      for (const { bytes } of words.values()) {
        offsets[at] = total;
        total += bytes.length;
        at += 1;
      }
      offsets[at] = total;
      const postings = new Uint8Array(total);
      let to = 0;
      for (const { bytes } of words.values()) {
        postings.set(bytes, to);
        to += bytes.length;
      }
      return { vocabulary: [...words.keys()].map((word) => `${word}\n`).join(""), offsets, postings };
    },
  };
}

/** Start of each word, and the end of the last one. */
function startsOf(vocabulary: string): Uint32Array {
  const starts: number[] = [0];
  for (let at = vocabulary.indexOf("\n"); at >= 0; at = vocabulary.indexOf("\n", at + 1)) starts.push(at + 1);
  return Uint32Array.from(starts);
}

/** Number of the word that contains the character at `at`. */
function wordAt(starts: Uint32Array, at: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Calls `tell` for each word that contains a spelling of the term, with the number of times. */
function eachWord(
  vocabulary: string,
  starts: Uint32Array,
  term: Term,
  tell: (word: number, count: number) => void,
): void {
  const seen = new Set<number>();
  for (const spelling of term.spellings) {
    for (let at = vocabulary.indexOf(spelling); at >= 0; ) {
      const word = wordAt(starts, at);
      const end = starts[word + 1] ?? vocabulary.length;
      if (!seen.has(word)) {
        seen.add(word);
        const count = countTerm(vocabulary.slice(starts[word], end - 1), term);
        if (count > 0) tell(word, count);
      }
      at = vocabulary.indexOf(spelling, end);
    }
  }
}

/** Counts of some terms in a segment. */
export interface Counted {
  /** Occurrences at `file * terms + term`, at most 50. */
  readonly counts: Uint8Array;
  /** For each file, 1 if it contains any of the terms. */
  readonly holds: Uint8Array;
}

/** Adds the postings of one word, multiplied by `times`; stops at their end, even if they are damaged. */
function addPostings({ offsets, postings }: Segment, word: number, times: number, term: number, to: Counted): void {
  const { counts, holds } = to;
  const width = counts.length / holds.length;
  const end = Math.min(offsets[word + 1] ?? 0, postings.length);
  let at = offsets[word] ?? 0;
  const readNumber = (): number => {
    let byte = postings[at++] ?? 0;
    let value = byte & 127;
    for (let scale = 128; byte > 127 && at < end; scale *= 128) {
      byte = postings[at++] ?? 0;
      value += (byte & 127) * scale;
    }
    return value;
  };
  for (let file = -1; at < end; ) {
    file += readNumber();
    const count = readNumber();
    if (file >= holds.length) return;
    const place = file * width + term;
    const sum = (counts[place] ?? 0) + times * count;
    counts[place] = Math.min(sum, maxCount);
    holds[file] = 1;
  }
}

/** Counts terms in a segment. `files`: number of its files to report, those with the lowest numbers. */
export function searchSegment(segment: Segment, terms: readonly Term[], files: number): Counted {
  const { vocabulary } = segment;
  const starts = startsOf(vocabulary);
  const found = { counts: new Uint8Array(files * terms.length), holds: new Uint8Array(files) };
  for (const [at, term] of terms.entries())
    eachWord(vocabulary, starts, term, (word, times) => addPostings(segment, word, times, at, found));
  return found;
}
