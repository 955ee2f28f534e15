/** Tries a pattern on files: in the threads of a search, or in the main thread when it cannot be slow. */
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
  /** Spent on matching alone. */
  readonly ms: number;
}

/** The result searches some files after another, up to the limit in each turn. */
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
