/** Finds the matching lines of a text; runs in the search threads, and in the main thread for plain patterns. */
import { isAscii } from "node:buffer";
import { PaiError } from "../../core/error.ts";
import { decode, isWide } from "../../core/text.ts";

export interface Pattern {
  readonly source: string;
  readonly ignoreCase: boolean;
}

export interface Hit {
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

export interface Matches {
  readonly hits: readonly Hit[];
  /** One attempt took so long that the engine may have given up, so the result is unreliable. */
  readonly slow: boolean;
}

/** Characters of a line that a hit shows. */
export const maxHitLength = 400;
const slowMs = 100;
const bytesPerMs = 20_000;

/** Throws file_unusable for an invalid regular expression. */
export function compilePattern({ source, ignoreCase }: Pattern, flags = ""): RegExp {
  const unicode = /\\[pP]\{|\\u\{/.test(source) ? "u" : "";
  try {
    return new RegExp(source, `${flags}${ignoreCase ? "i" : ""}${unicode}`);
  } catch (cause) {
    throw new PaiError(
      "file_unusable",
      `not a regular expression: ${cause instanceof Error ? cause.message : source}`,
      {
        hint: 'to search for it as it is, write it as a JSON string: "a(b"',
        cause,
      },
    );
  }
}

/** Whether a pattern cannot be slow: it has no repetition and no group. */
export function isPlain(source: string): boolean {
  return /^(?:[^\\?*+()[\]{}]|\\[^\w\s]|\\[bBdDsSwW]|\[[^\\\]]*\])*$/.test(source);
}

/** Returns a function that gives the first `limit` matching lines of a file; null: the file is binary. */
export function openMatcher(pattern: Pattern): (content: Uint8Array, limit: number) => Matches | null {
  const match = openLineMatcher(pattern);
  return (content, limit) => {
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    if (!isWide(bytes) && bytes.includes(0)) return null;
    const text = isAscii(bytes) ? bytes.toString("latin1") : decode(bytes)?.text;
    return text === undefined ? null : match(text, limit);
  };
}

/** Returns the first `limit` matching lines; each line is tried alone, without its line ending. */
export function openLineMatcher(pattern: Pattern): (text: string, limit: number) => Matches {
  const line = compilePattern(pattern);
  // Only negative lookaround can see the neighbouring lines.
  const whole = /\(\?<?!/.test(pattern.source) ? null : compilePattern(pattern, "gm");
  return (text, limit) => {
    const hits: Hit[] = [];
    const clock = openClock();
    let number = 1;
    let counted = 0;
    for (const start of candidates(text, whole, clock)) {
      if (hits.length >= limit) break;
      const end = text.indexOf("\n", start);
      const content = text.slice(start, end < 0 ? text.length : end).replace(/\r$/, "");
      const found = clock.time(content.length, () => line.exec(content));
      if (found === null) continue;
      number += countNewlines(text, counted, start);
      counted = start;
      hits.push({ line: number, text: cutAround(content, found.index) });
    }
    return { hits, slow: clock.slow() };
  };
}

/**
 * Starts of the lines worth trying, in order. Whatever matches within a line also matches in the whole text, and
 * searching that with `whole` is much faster; null: every line is tried.
 */
function* candidates(text: string, whole: RegExp | null, clock: Clock): Generator<number> {
  let start = 0;
  while (start < text.length) {
    if (whole !== null) {
      whole.lastIndex = start;
      const match = clock.time(text.length - start, () => whole.exec(text));
      if (match === null || (match.index === text.length && text.endsWith("\n"))) return;
      start = match.index === 0 ? 0 : text.lastIndexOf("\n", match.index - 1) + 1;
    }
    yield start;
    const end = text.indexOf("\n", start);
    if (end < 0) return;
    start = end + 1;
  }
}

interface Clock {
  time<T>(length: number, attempt: () => T): T;
  slow(): boolean;
}

function openClock(): Clock {
  let slow = false;
  return {
    time(length, attempt) {
      const start = performance.now();
      const result = attempt();
      if (performance.now() - start > slowMs + length / bytesPerMs) slow = true;
      return result;
    },
    slow: () => slow,
  };
}

function countNewlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Characters before a hit in a long line that are shown, too. */
const beforeHit = 100;

/** A line as results show it: at most 400 characters around the hit at `at`, cut at graphemes. */
function cutAround(text: string, at: number): string {
  if (text.length <= maxHitLength) return text;
  const from = Math.max(0, Math.min(at - beforeHit, text.length - maxHitLength));
  const near = text.slice(from, from + maxHitLength + 64);
  const edgeAt = (place: number) => new Intl.Segmenter().segment(near).containing(place)?.index ?? place;
  const start = from === 0 ? 0 : edgeAt(1);
  const end = from + maxHitLength >= text.length ? near.length : edgeAt(maxHitLength);
  return `${start === 0 ? "" : "…"}${near.slice(start, end)}${end === near.length ? "" : "…"}`;
}
