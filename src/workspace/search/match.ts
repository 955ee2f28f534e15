/** Finds the matching lines of a text; runs in the search threads. */
import { isAscii } from "node:buffer";
import { PaiError } from "../../core/error.ts";
import { decode, isWide } from "../../core/text.ts";

export interface Pattern {
  readonly source: string;
  readonly ignoreCase: boolean;
}

export interface Hit {
  readonly line: number;
  readonly text: string;
}

export interface Matches {
  readonly hits: readonly Hit[];
  /** One attempt took so long that the engine may have given up, so the result is unreliable. */
  readonly slow: boolean;
}

export const maxHitLength = 400;
const slowMs = 100;
const bytesPerMs = 20_000;

/** Throws file_unusable for an invalid regular expression. */
export function compilePattern({ source, ignoreCase }: Pattern): RegExp {
  const unicode = /\\[pP]\{|\\u\{/.test(source) ? "u" : "";
  try {
    return new RegExp(source, `${ignoreCase ? "i" : ""}${unicode}`);
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
  const shape = compilePattern(pattern);
  return (text, limit) => {
    const hits: Hit[] = [];
    let slow = false;
    let number = 1;
    for (let start = 0; start < text.length && hits.length < limit; number += 1) {
      const feed = text.indexOf("\n", start);
      const end = feed < 0 ? text.length : feed;
      const line = text.slice(start, text[end - 1] === "\r" && end > start ? end - 1 : end);
      const began = performance.now();
      const found = shape.exec(line);
      slow ||= performance.now() - began > slowMs + line.length / bytesPerMs;
      if (found !== null) hits.push({ line: number, text: cutAround(line, found.index) });
      start = end + 1;
    }
    return { hits, slow };
  };
}

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
