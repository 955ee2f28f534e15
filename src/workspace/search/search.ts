/** SEARCH: finds the lines below a folder that match a pattern, without ever hanging on a slow one. */
import { closeSync } from "node:fs";
import type { PathRules } from "../../core/closed-names.ts";
import { compressionOf, isLogName } from "../../core/compressed.ts";
import { PaiError } from "../../core/error.ts";
import { nameOf, type RelPath } from "../../core/path.ts";
import type { SearchQuery, SearchReport } from "../../core/ports.ts";
import { breathe } from "../../core/steps.ts";
import { decode } from "../../core/text.ts";
import type { Root } from "../confine.ts";
import { showName } from "../parse-path.ts";
import { judgePath } from "../path-policy.ts";
import { compareCodePoints, type Omitted, walkNow } from "../scan.ts";
import { addTo, type Bunch, type StagedFile } from "./search-files.ts";
import { compilePattern, type Pattern, type SearchJob, type SearchReply } from "./searcher.ts";
import { openPieces } from "./text-pieces.ts";
import { openThreads } from "./threads.ts";

const maxBatchFiles = 256;
const maxBatchBytes = 1024 * 1024;
/** A thread without a reply for so long is stuck in a pattern. */
const maxSilenceMs = 1000;
/** Matching time of an ordinary pattern: one second in all, and `maxMsEachMiB` for each MiB searched. */
const maxMs = 1000;
const maxMsEachMiB = 40;
/** Where the last hits are wanted, all lines that match have to be looked at. */
const maxMsEachMiBOfAll = 250;

function openTally({ maxHits, newest = false }: SearchQuery) {
  const limit = maxHits + 1;
  let hits: SearchReport["hits"][number][] = [];
  let [skipped, tooSlow, ms, bytes] = [0, false, 0, 0];
  const msEachMiB = newest ? maxMsEachMiBOfAll : maxMsEachMiB;
  return {
    limit,
    skip: () => {
      skipped += 1;
    },
    take(reply: SearchReply | null): void {
      ms += reply?.ms ?? 0;
      bytes += reply?.bytes ?? 0;
      const isOver = ms > maxMs + (msEachMiB * bytes) / (1024 * 1024);
      tooSlow ||= reply === null || isOver || reply.slow;
      if (reply === null || isOver) return;
      hits.push(...reply.hits);
      if (newest && hits.length > 2 * limit) hits = hits.slice(-limit);
      skipped += reply.skipped;
    },
    isFull: () => tooSlow || (!newest && hits.length >= limit),
    report: (): SearchReport => ({
      hits: newest ? hits.slice(-maxHits) : hits.slice(0, maxHits),
      more: hits.length > maxHits,
      tooSlow,
      skipped,
    }),
  };
}

/**
 * Searches the files below `query.under`, or that one file, in walk order, without denied and ignored files; then those
 * that are large, in windows, and compressed logs. Patterns run in threads; one that takes a second more than an ordinary
 * pattern is stopped: `tooSlow`. Throws file_unusable for an invalid pattern or a missing folder.
 */
export async function search(
  root: Root,
  query: SearchQuery,
  rules: PathRules,
  signal?: AbortSignal,
): Promise<SearchReport> {
  const pattern: Pattern = { source: query.pattern, ignoreCase: query.ignoreCase };
  compilePattern(pattern);
  const tally = openTally(query);
  signal?.throwIfAborted();
  const job: SearchJob = { pattern, limit: tally.limit, newest: query.newest === true };
  const searchers = openSearchers(root, job);
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  const stop = () => stopped.reject(signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  const unlessStopped = <T>(replies: Promise<T>): Promise<T> => Promise.race([replies, stopped.promise]);
  const large: RelPath[] = [];
  const takeAll = (replies: readonly (SearchReply | null)[]): void => {
    for (const reply of replies) {
      tally.take(reply);
      large.push(...(reply?.large ?? []));
    }
  };
  try {
    const found = unpacked(files(root, query, rules, tally.skip), query, (path) => large.push(path));
    for (const batch of batches(found)) {
      await breathe(signal);
      takeAll(await unlessStopped(searchers.ask(batch)));
      if (tally.isFull()) break;
    }
    if (!tally.isFull()) takeAll(await unlessStopped(searchers.rest()));
    for (const path of large) {
      const { hide } = query;
      if (tally.isFull()) break;
      if (hide === undefined) tally.skip();
      else await unlessStopped(searchLarge({ root, hide, job, signal, ...tally, ...searchers }, path));
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    searchers.close();
  }
  return tally.report();
}

const waitingBatches = 2;

/** Replies come in the order of the batches. */
function openSearchers(root: Root, job: SearchJob) {
  const threads = openThreads<SearchReply>({ root: root.lent, job }, maxSilenceMs);
  const waiting: Promise<SearchReply | null>[] = [];
  return {
    async ask(batch: readonly Bunch[]): Promise<readonly (SearchReply | null)[]> {
      const asked = threads.ask(batch);
      // A caller that stops early ignores the remaining replies.
      asked.catch(() => {});
      waiting.push(asked);
      const replies: (SearchReply | null)[] = [];
      while (waiting.length >= threads.count * waitingBatches) replies.push((await waiting.shift()) ?? null);
      return replies;
    },
    rest: () => Promise.all(waiting.splice(0)),
    /** The answer to this batch alone; null: its thread was stuck. */
    askThreads: threads.ask,
    close: threads.close,
  };
}

/** Passes on all but compressed logs, and the compressed file that the query names: those are `packed`. */
function* unpacked(
  found: Iterable<RelPath | StagedFile>,
  { under }: SearchQuery,
  packed: (path: RelPath) => void,
): Generator<RelPath | StagedFile> {
  for (const file of found) {
    if (typeof file !== "string" || compressionOf(file) === null || (file !== under && !isLogName(file))) yield file;
    else packed(file);
  }
}

function* files(root: Root, query: SearchQuery, rules: PathRules, pass: () => void): Generator<RelPath | StagedFile> {
  const wanted = openFilter(query, rules);
  const staged = [...query.staged.keys()].filter(wanted).sort(compareAsWalked);
  const kind = root.stat(query.under)?.kind ?? null;
  const found = kind === "folder" ? walkFiles(root, query.under, rules, pass) : [query.under];
  if (kind !== "folder" && staged.length === 0) requireFile(root, query.under);
  for (const path of kind === null ? [] : found) {
    while (staged[0] !== undefined && compareAsWalked(staged[0], path) <= 0) yield* takeStaged(query, staged);
    if (wanted(path) && !query.staged.has(path)) yield path;
  }
  while (staged.length > 0) yield* takeStaged(query, staged);
}

function* takeStaged({ staged }: SearchQuery, waiting: RelPath[]): Generator<StagedFile> {
  const path = waiting.shift();
  const content = path === undefined ? null : (staged.get(path) ?? null);
  if (path !== undefined && content !== null) yield { path, content };
}

function* walkFiles(root: Root, under: RelPath, rules: PathRules, pass: () => void): Generator<RelPath> {
  const omitted: Omitted = (_path, why) => why === "unreadable" && pass();
  for (const { kind, path } of walkNow(root, under, rules, omitted)) {
    if (kind === "special") pass();
    if (kind === "file") yield path;
  }
}

/** A walk gives only allowed paths; other requested paths are judged here. */
function openFilter(
  { under, include, staged, known = (path) => path }: SearchQuery,
  rules: PathRules,
): (path: RelPath) => boolean {
  const glob = include === null ? null : new Bun.Glob(include);
  const byName = include !== null && !include.includes("/");
  const isNamed = (path: RelPath) => path === under || staged.has(path);
  return (path) =>
    (under === "" || path === under || path.startsWith(`${under}/`)) &&
    (glob === null || glob.match(byName ? nameOf(known(path)) : known(path))) &&
    (!isNamed(path) || judgePath(path, "read", rules).verdict !== "deny");
}

function requireFile(root: Root, path: RelPath): void {
  const open = root.openFile(path);
  if (open === null) throw new PaiError("file_unusable", `${showName(path)} does not exist`);
  closeSync(open.fd);
}

/** Walk order is the order of the paths with `/` sorted before all other characters. */
const compareAsWalked = (a: string, b: string): number =>
  compareCodePoints(a.replaceAll("/", "\0"), b.replaceAll("/", "\0"));

function* batches(found: Iterable<RelPath | StagedFile>): Generator<readonly Bunch[]> {
  let batch: Bunch[] = [];
  let [count, bytes] = [0, 0];
  for (const file of found) {
    addTo(batch, file);
    count += 1;
    bytes += typeof file === "string" ? 0 : file.content.length;
    if (count < maxBatchFiles && bytes < maxBatchBytes) continue;
    yield batch;
    [batch, count, bytes] = [[], 0, 0];
  }
  if (batch.length > 0) yield batch;
}

type Searching = Pick<ReturnType<typeof openTally>, "take" | "isFull" | "skip"> &
  Pick<ReturnType<typeof openSearchers>, "askThreads"> & {
    readonly root: Root;
    readonly hide: NonNullable<SearchQuery["hide"]>;
    readonly job: SearchJob;
    readonly signal: AbortSignal | undefined;
  };

const linesAround = 20;
const newline = 10;

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
 * Searches a file of any size, or a compressed one, window by window: tries the pattern on it as it is, and again, without
 * secrets, on the text around each match. What `openPieces` cannot read is skipped.
 */
async function searchLarge(
  { root, hide, job, askThreads, take, isFull, skip, signal }: Searching,
  path: RelPath,
): Promise<void> {
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
  try {
    for await (const bytes of openWindows(root, path, signal)) {
      const next = ask(bytes);
      next.catch(() => {});
      if (asked !== null) keep(await asked);
      if (isFull()) return;
      asked = next;
    }
    if (asked !== null) keep(await asked);
  } catch (thrown) {
    if (!(thrown instanceof PaiError) || thrown.code !== "file_unusable") throw thrown;
    skip();
  }
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
