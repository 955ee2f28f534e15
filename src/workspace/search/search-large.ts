/** Searches a file of any size, or a compressed one, window by window, and only in text without secrets. */
import type { RelPath } from "../../core/path.ts";
import type { SearchQuery } from "../../core/ports.ts";
import { decode } from "../../core/text.ts";
import type { Root } from "../confine.ts";
import type { Bunch } from "./search-files.ts";
import type { SearchJob, SearchReply } from "./searcher.ts";
import { openPieces } from "./text-pieces.ts";

export interface Searching {
  readonly root: Root;
  readonly hide: NonNullable<SearchQuery["hide"]>;
  readonly job: SearchJob;
  readonly askThreads: (batch: readonly Bunch[]) => Promise<SearchReply | null>;
  readonly take: (reply: SearchReply | null) => void;
  readonly isFull: () => boolean;
  readonly signal: AbortSignal | undefined;
}

const linesAround = 20;
const newline = 10;

/** The parts of a window that hold hits; `before`: lines before each. */
function partsAround(bytes: Buffer, hits: SearchReply["hits"]) {
  const starts = [0];
  if (hits.length > 0)
    for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) starts.push(at + 1);
  const ranges: { from: number; to: number }[] = [];
  for (const { line } of hits) {
    const [from, to] = [Math.max(0, line - 1 - linesAround), line + linesAround];
    const last = ranges.at(-1);
    if (last !== undefined && from <= last.to) last.to = to;
    else ranges.push({ from, to });
  }
  return ranges.map(({ from, to }) => ({
    before: from,
    text: decode(bytes.subarray(starts[from] ?? 0, starts[to] ?? bytes.length))?.text ?? "",
  }));
}

/**
 * Tries the pattern on the file as it is, and again, without secrets, on the text around each match. Throws file_unusable
 * like `openPieces`.
 */
export async function searchLarge(searching: Searching, path: RelPath): Promise<void> {
  const { root, hide, job, askThreads, take, isFull, signal } = searching;
  const tryOn = (content: Buffer) => askThreads([{ path, content, isWindow: true }]);
  const ask = async (window: Buffer): Promise<SearchReply | null> => {
    const first = await tryOn(window);
    if (first === null) return null;
    let reply: SearchReply = { ...first, hits: [] };
    for (const { before, text } of partsAround(window, first.hits)) {
      const found = await tryOn(Buffer.from(await hide(text)));
      if (found === null) return null;
      const hits = found.hits.map((hit) => ({ ...hit, line: hit.line + before }));
      reply = { ...reply, hits: [...reply.hits, ...hits], ms: reply.ms + found.ms, slow: reply.slow || found.slow };
      if (!job.newest && reply.hits.length >= job.limit) break;
    }
    return reply;
  };
  let before = 0;
  /** A line that is longer than a window is found once. */
  let last = 0;
  const keep = (reply: SearchReply | null): void => {
    const found = (reply?.hits ?? []).map((hit) => ({ ...hit, line: hit.line + before }));
    const hits = found.filter(({ line }) => line > last);
    last = hits.at(-1)?.line ?? last;
    before += reply?.lines ?? 0;
    take(reply && { ...reply, hits });
  };
  let asked: Promise<SearchReply | null> | null = null;
  for await (const bytes of openWindows(root, path, signal)) {
    const next = ask(bytes);
    next.catch(() => {});
    if (asked !== null) keep(await asked);
    if (isFull()) return;
    asked = next;
  }
  if (asked !== null) keep(await asked);
}

const windowBytes = 256 * 1024;
/** What a window repeats of a line that is longer than a window, so that no secret and no hit is cut in two. */
const overlapBytes = 4096;

/** NUL, which a crash leaves in logs, is a blank here: no part of a text counts as binary. */
function blankNul(bytes: Buffer): Buffer {
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at + 1)) bytes[at] = 32;
  return bytes;
}

/** Memory that the thread reads, too, so that no window is copied to it. A window and a piece may have one line end only. */
const openShared = () => Buffer.from(new SharedArrayBuffer(4 * windowBytes));

/** Each window is valid until the next but one. Throws like `openPieces`. */
async function* openWindows(root: Root, path: RelPath, signal?: AbortSignal): AsyncGenerator<Buffer> {
  let [held, other] = [openShared(), openShared()];
  let used = 0;
  for await (const piece of openPieces(root, path, signal)) {
    used += piece.copy(held, used);
    if (used < windowBytes) continue;
    const end = held.lastIndexOf(newline, used - 1) + 1 || used;
    yield blankNul(held.subarray(0, end));
    const from = end === used && held[used - 1] !== newline ? used - overlapBytes : end;
    used = held.copy(other, 0, from, used);
    [held, other] = [other, held];
  }
  if (used > 0) yield blankNul(held.subarray(0, used));
}
