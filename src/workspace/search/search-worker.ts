/** Worker of a search. Only start it as a worker: importing it would keep the process alive. */
import { borrowRoot, type LentRoot } from "../confine.ts";
import type { Pattern } from "./match.ts";
import type { Bunch } from "./search-files.ts";
import { openSearcher, type SearchReply } from "./searcher.ts";

export interface SearchRequest {
  readonly root: LentRoot;
  readonly pattern: Pattern;
  /** Largest number of hits. */
  readonly limit: number;
  readonly bunches: readonly Bunch[];
}

declare const self: Worker;

let search: ((bunches: readonly Bunch[]) => SearchReply) | null = null;

self.onmessage = ({ data }: MessageEvent<SearchRequest>) => {
  search ??= openSearcher(borrowRoot(data.root), data.pattern, data.limit);
  self.postMessage(search(data.bunches));
};
