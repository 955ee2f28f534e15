/** A thread of a search. Only ever started as one: importing it would keep the process from ending. */
import { borrowRoot, type LentRoot } from "../confine.ts";
import type { Pattern } from "./match.ts";
import type { Bunch } from "./search-files.ts";
import { openSearcher, type SearchReply } from "./searcher.ts";

export interface SearchRequest {
  readonly root: LentRoot;
  readonly pattern: Pattern;
  /** Hits that are wanted at most. */
  readonly limit: number;
  readonly bunches: readonly Bunch[];
}

declare const self: Worker;

let search: ((bunches: readonly Bunch[]) => SearchReply) | null = null;

self.onmessage = ({ data }: MessageEvent<SearchRequest>) => {
  search ??= openSearcher(borrowRoot(data.root), data.pattern, data.limit);
  self.postMessage(search(data.bunches));
};
