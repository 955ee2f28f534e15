/** Tries a pattern on files, in a search thread. */
import type { RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import { openMatcher, type Pattern } from "./match.ts";
import { type Bunch, openReader, type SearchedFile } from "./search-files.ts";

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
    if (kept > keptBytes) {
      Bun.gc(true);
      kept = 0;
    }
    return end;
  };
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}
