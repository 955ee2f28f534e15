/** SEARCH: the lines below a folder that match a pattern, without ever hanging on one. */
import { PaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import type { SearchQuery, SearchReport } from "../core/ports.ts";
import { decode } from "../core/text.ts";
import type { Root } from "./confine.ts";
import { compilePattern, isPlain, type Matches, matchLines, type Pattern } from "./match.ts";
import { nameOf, showName } from "./parse.ts";
import { judgePath, type PathRules } from "./policy.ts";
import { compareCodePoints, walk } from "./scan.ts";
import type { MatchReply, MatchRequest } from "./search-worker.ts";

const maxFileBytes = 8 * 1024 * 1024;
const maxBatchBytes = 1024 * 1024;
const maxBatchFiles = 256;
const maxMatchMs = 1000;
const maxStartMs = 10_000;

interface Candidate {
  readonly path: RelPath;
  readonly bytes: Uint8Array;
}

/**
 * Searches files below `query.under`, or that one file, in the order of a walk; denied and ignored files never.
 * A pattern that can be slow is tried in a thread and ended after one second of matching in all: `tooSlow`.
 * Throws file_unusable for a pattern that is none and for a folder that is not there.
 */
export async function search(
  root: Root,
  query: SearchQuery,
  rules: PathRules,
  signal?: AbortSignal,
): Promise<SearchReport> {
  const pattern: Pattern = { source: query.pattern, ignoreCase: query.ignoreCase };
  compilePattern(pattern);
  const matcher = isPlain(query.pattern) ? openPlainMatcher(pattern) : openThreadMatcher(pattern);
  const hits: SearchHit[] = [];
  let skipped = 0;
  const pass = () => {
    skipped += 1;
  };
  let tooSlow = false;
  try {
    for await (const batch of batches(files(root, query, rules, pass, signal))) {
      signal?.throwIfAborted();
      const reply = await matcher.match(batch, query.maxHits + 1 - hits.length);
      for (const [index, matches] of (reply ?? []).entries()) {
        if (matches === null) pass();
        else hits.push(...hitsIn(batch[index], matches));
      }
      tooSlow = reply?.some((matches) => matches?.slow) ?? true;
      if (tooSlow || hits.length > query.maxHits) break;
    }
  } finally {
    matcher.close();
  }
  return { hits: hits.slice(0, query.maxHits), more: hits.length > query.maxHits, tooSlow, skipped };
}

type SearchHit = SearchReport["hits"][number];

function hitsIn(file: Candidate | undefined, matches: Matches): SearchHit[] {
  return file === undefined ? [] : matches.hits.map((hit) => ({ path: file.path, ...hit }));
}

/** What is to be searched, in code-point order of a walk, with the staged files in their places. */
async function* files(
  root: Root,
  query: SearchQuery,
  rules: PathRules,
  pass: () => void,
  signal: AbortSignal | undefined,
): AsyncGenerator<Candidate> {
  const wanted = openFilter(query, rules);
  const staged = [...query.staged.keys()].filter(wanted).sort(compareAsWalked);
  const virtual = staged.length > 0 && root.stat(query.under) === null;
  for await (const path of virtual ? [] : paths(root, query.under, rules, pass, signal)) {
    while (staged[0] !== undefined && compareAsWalked(staged[0], path) <= 0) yield* takeStaged(query, staged);
    if (!wanted(path) || query.staged.has(path)) continue;
    const bytes = path === query.under ? readNamed(root, path) : readOrPass(root, path, pass);
    if (bytes !== null) yield { path, bytes };
  }
  while (staged.length > 0) yield* takeStaged(query, staged);
}

function* takeStaged({ staged }: SearchQuery, waiting: RelPath[]): Generator<Candidate> {
  const path = waiting.shift();
  const bytes = path === undefined ? null : (staged.get(path) ?? null);
  if (path !== undefined && bytes !== null) yield { path, bytes };
}

async function* paths(
  root: Root,
  under: RelPath,
  rules: PathRules,
  pass: () => void,
  signal: AbortSignal | undefined,
): AsyncGenerator<RelPath> {
  if (root.stat(under)?.kind !== "folder") {
    yield under;
    return;
  }
  for await (const entry of walk(root, under, rules, { signal, omitted: pass })) {
    if (entry.kind === "special") pass();
    if (entry.kind === "file") yield entry.path;
  }
}

function openFilter({ under, include }: SearchQuery, rules: PathRules): (path: RelPath) => boolean {
  const glob = include === null ? null : new Bun.Glob(include);
  const byName = include !== null && !include.includes("/");
  return (path) =>
    (under === "" || path === under || path.startsWith(`${under}/`)) &&
    (glob === null || glob.match(byName ? nameOf(path) : path)) &&
    judgePath(path, "read", rules).verdict !== "deny";
}

/** The one file the query names: why it cannot be searched is worth an error. */
function readNamed(root: Root, path: RelPath): Uint8Array {
  const file = root.readBytes(path, maxFileBytes);
  if (file === null) throw new PaiError("file_unusable", `${showName(path)} does not exist`);
  return file.bytes;
}

function readOrPass(root: Root, path: RelPath, pass: () => void): Uint8Array | null {
  try {
    return root.readBytes(path, maxFileBytes)?.bytes ?? null;
  } catch {
    pass();
    return null;
  }
}

/** Depth first with sorted siblings is the order of the paths with `/` before every other character. */
function compareAsWalked(a: string, b: string): number {
  return compareCodePoints(a.replaceAll("/", "\0"), b.replaceAll("/", "\0"));
}

async function* batches(candidates: AsyncIterable<Candidate>): AsyncGenerator<readonly Candidate[]> {
  let batch: Candidate[] = [];
  let size = 0;
  for await (const candidate of candidates) {
    batch.push(candidate);
    size += candidate.bytes.length;
    if (size < maxBatchBytes && batch.length < maxBatchFiles) continue;
    yield batch;
    batch = [];
    size = 0;
  }
  if (batch.length > 0) yield batch;
}

interface Matcher {
  /** null: ended, the pattern is too slow. */
  match(batch: readonly Candidate[], limit: number): Promise<MatchReply | null>;
  close(): void;
}

function openPlainMatcher(pattern: Pattern): Matcher {
  return {
    async match(batch, limit) {
      let left = limit;
      return batch.map(({ bytes }): Matches | null => {
        const text = decode(bytes)?.text ?? null;
        if (text === null) return null;
        const { hits } = matchLines(text, pattern, left);
        left -= hits.length;
        return { hits, slow: false };
      });
    },
    close() {},
  };
}

/** In the built file every module stands in the top folder, but an entry point keeps its folder below src. */
function workerUrl(): string {
  const built = !import.meta.url.endsWith("/workspace/search.ts");
  return new URL(built ? "./workspace/search-worker.ts" : "./search-worker.ts", import.meta.url).href;
}

/** The thread is waited for once before the clock runs, so that only matching counts. */
function openThreadMatcher(pattern: Pattern): Matcher {
  const worker = new Worker(workerUrl());
  worker.unref();
  const ask = (files: readonly Uint8Array[], limit: number, ms: number): Promise<MatchReply | null> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms, null);
      const settle = (end: () => void) => {
        clearTimeout(timer);
        end();
      };
      worker.onmessage = ({ data }: MessageEvent<MatchReply>) => settle(() => resolve(data));
      worker.onerror = ({ message }) => settle(() => reject(new Error(message)));
      worker.postMessage({ pattern, limit, files } satisfies MatchRequest);
    });
  const ready = ask([], 0, maxStartMs);
  let left = maxMatchMs;
  return {
    async match(batch, limit) {
      if ((await ready) === null) throw new PaiError("internal", "The search thread did not start");
      const start = performance.now();
      const reply = await ask(
        batch.map(({ bytes }) => bytes),
        limit,
        left,
      );
      left -= performance.now() - start;
      return left > 0 ? reply : null;
    },
    close: () => worker.terminate(),
  };
}
