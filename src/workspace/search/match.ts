/** Finds the lines of a text that match a pattern; runs in the search threads, and in-process for plain patterns. */
import { isAscii } from "node:buffer";
import { PaiError } from "../../core/error.ts";
import { decode } from "../../core/text.ts";

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
  /** One attempt took so long that the engine may have given up on it: what it said is not to be trusted. */
  readonly slow: boolean;
}

const maxHitLength = 400;
const slowMs = 100;
const bytesPerMs = 20_000;

/** Throws file_unusable for what is not a regular expression. */
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

/** Whether a pattern has nothing in it that could make matching slow: no repetition, no group. */
export function isPlain(source: string): boolean {
  return /^(?:[^\\?*+()[\]{}]|\\[^\w\s]|\\[bBdDsSwW]|\[[^\\\]]*\])*$/.test(source);
}

/** Tries a pattern on the bytes of one file after another: the first `limit` lines that match; null: binary. */
export function openMatcher(pattern: Pattern): (content: Uint8Array, limit: number) => Matches | null {
  const match = openLineMatcher(pattern);
  const literal = findLiteral(pattern);
  return (content, limit) => {
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    if (!isWide(bytes)) {
      if (bytes.includes(0)) return null;
      if (literal !== null && !bytes.includes(literal)) return { hits: [], slow: false };
    }
    const text = isAscii(bytes) ? bytes.toString("latin1") : decode(bytes)?.text;
    return text === undefined ? null : match(text, limit);
  };
}

/** Bytes that every file with a match contains, in every encoding but the wide ones; null: none are known. */
function findLiteral({ source, ignoreCase }: Pattern): Buffer | null {
  if (ignoreCase || source.includes("|")) return null;
  const start = /^[\w \-,:;"'<>=!@#%&~`/]*/.exec(source)?.[0] ?? "";
  const sure = /[?*{]/.test(source.charAt(start.length)) ? start.slice(0, -1) : start;
  return sure.length < 2 ? null : Buffer.from(sure, "latin1");
}

function isWide(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

/** The first `limit` lines that match, each line tried on its own, without its ending. */
export function openLineMatcher(pattern: Pattern): (text: string, limit: number) => Matches {
  const line = compilePattern(pattern);
  // Only "not followed by" and "not preceded by" can see the neighbouring lines.
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
      const found = clock.time(content.length, () => line.test(content));
      if (!found) continue;
      number += countNewlines(text, counted, start);
      counted = start;
      hits.push({ line: number, text: cutAtGrapheme(content) });
    }
    return { hits, slow: clock.slow() };
  };
}

/**
 * Starts of the lines worth trying, in order. What matches in a line alone also matches in the `whole` text, which is
 * searched at once and much faster; null: every line is.
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

/** A line as a hit shows it: at most 400 characters, never ending inside one that people see as one. */
function cutAtGrapheme(text: string): string {
  if (text.length <= maxHitLength) return text;
  const near = text.slice(0, maxHitLength + 64);
  const edge = new Intl.Segmenter().segment(near).containing(maxHitLength)?.index ?? maxHitLength;
  return `${near.slice(0, edge)}…`;
}
