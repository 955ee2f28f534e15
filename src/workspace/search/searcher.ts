/** Tries a pattern on files, in a search thread: each line alone, without its line ending. */
import { isAscii } from "node:buffer";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import { decode, isWide } from "../../core/text.ts";
import type { Root } from "../confine.ts";
import { type Bunch, openReader, type SearchedFile } from "./search-files.ts";

export interface Pattern {
  readonly source: string;
  readonly ignoreCase: boolean;
}

interface Matches {
  readonly hits: readonly { readonly line: number; readonly text: string }[];
  /** One attempt took so long that the engine may have given up, so the result is unreliable. */
  readonly slow: boolean;
}

const maxHitLength = 400;
const slowMs = 100;
const bytesPerMs = 20_000;

/** Throws file_unusable for an invalid regular expression. */
export function compilePattern({ source, ignoreCase }: Pattern): RegExp {
  const unicode = /\\[pP]\{|\\u\{/.test(source) ? "u" : "";
  try {
    return new RegExp(source, `${ignoreCase ? "i" : ""}${unicode}`);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : source;
    const hint = 'to search for it as it is, write it as a JSON string: "a(b"';
    throw new PaiError("file_unusable", `not a regular expression: ${why}`, { hint, cause });
  }
}

/** Returns a function that gives the first `limit` matching lines of a file; null: the file is binary. */
function openMatcher(pattern: Pattern): (content: Uint8Array, limit: number) => Matches | null {
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
    const hits: Matches["hits"][number][] = [];
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

export interface SearchReply {
  readonly hits: readonly { readonly path: RelPath; readonly line: number; readonly text: string }[];
  readonly skipped: number;
  readonly large: readonly RelPath[];
  readonly lines: number;
  /** One attempt took so long that the engine may have given up on it. */
  readonly slow: boolean;
  readonly bytes: number;
  readonly ms: number;
}

export interface SearchJob {
  readonly pattern: Pattern;
  readonly limit: number;
  /** The last hits of each file instead of the first. */
  readonly newest: boolean;
}

/** Texts that the engine may keep before it is told to free them. It would keep a hundred megabytes. */
const keptBytes = 4 * 1024 * 1024;

function openReply({ limit, newest }: SearchJob, match: ReturnType<typeof openMatcher>) {
  const hits: SearchReply["hits"][number][] = [];
  const large: RelPath[] = [];
  let [skipped, lines, bytes, ms, slow] = [0, 0, 0, 0, false];
  const tryOn = (content: Uint8Array, isWindow: boolean) => {
    const start = performance.now();
    const matches = match(content, newest ? Number.POSITIVE_INFINITY : limit - hits.length);
    ms += performance.now() - start;
    bytes += content.length;
    if (isWindow) lines += countLines(content);
    slow ||= matches?.slow === true;
    return matches;
  };
  return {
    isFull: () => !newest && hits.length >= limit,
    look({ path, content, isLarge, isWindow, verify }: SearchedFile): void {
      const matches = content === null ? null : tryOn(content, isWindow === true);
      if (isLarge && verify()) large.push(path);
      else if (matches === null || (matches.hits.length > 0 && !verify())) skipped += 1;
      else for (const hit of matches.hits.slice(-limit)) hits.push({ path, ...hit });
    },
    end: (): SearchReply => ({ hits, skipped, large, lines, slow, bytes, ms }),
  };
}

/** Returns a function that searches some files in turn, each time up to the limit. */
export function openSearcher(root: Root, job: SearchJob): (bunches: readonly Bunch[]) => SearchReply {
  const read = openReader(root);
  const match = openMatcher(job.pattern);
  let kept = 0;
  return (bunches) => {
    const reply = openReply(job, match);
    for (const bunch of bunches) if (!reply.isFull()) read(bunch, reply.look);
    const end = reply.end();
    kept += end.bytes;
    if (kept <= keptBytes) return end;
    Bun.gc(true);
    kept = 0;
    return end;
  };
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}
