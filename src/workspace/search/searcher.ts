/** Tries a pattern on files, in a search thread or, for plain patterns, in the main thread. */
import type { RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import { openMatcher, type Pattern } from "./match.ts";
import { type Bunch, openReader, type SearchedFile } from "./search-files.ts";

export interface SearchReply {
  readonly hits: readonly { readonly path: RelPath; readonly line: number; readonly text: string }[];
  readonly skipped: number;
  /** One attempt took so long that the engine may have given up on it. */
  readonly slow: boolean;
  readonly bytes: number;
  /** Time spent on matching alone. */
  readonly ms: number;
}

/** Returns a function that searches some files in turn, each time up to the limit. */
export function openSearcher(root: Root, pattern: Pattern, limit: number): (bunches: readonly Bunch[]) => SearchReply {
  const read = openReader(root);
  const match = openMatcher(pattern);
  return (bunches) => {
    const hits: SearchReply["hits"][number][] = [];
    let [skipped, bytes, ms, slow] = [0, 0, 0, false];
    const look = ({ path, content, verify }: SearchedFile): void => {
      const start = performance.now();
      const matches = content === null ? null : match(content, limit - hits.length);
      ms += performance.now() - start;
      bytes += content?.length ?? 0;
      if (matches === null || (matches.hits.length > 0 && !verify())) skipped += 1;
      else for (const hit of matches.hits) hits.push({ path, ...hit });
      slow ||= matches?.slow === true;
    };
    for (const bunch of bunches) if (hits.length < limit) read(bunch, look);
    return { hits, skipped, slow, bytes, ms };
  };
}
