/** Worker that counts terms in files. Only start it as a worker: importing it would keep the process alive. */
import type { Term } from "../../core/context/words.ts";
import { borrowRoot, type LentRoot } from "../confine.ts";
import type { Bunch } from "../search/search-files.ts";
import { type CountReply, openCountFiles } from "./count-files.ts";

export interface CountRequest {
  readonly root: LentRoot;
  readonly terms: readonly Term[];
  readonly bunches: readonly Bunch[];
}

declare const self: Worker;

let count: ((bunches: readonly Bunch[]) => CountReply) | null = null;

self.onmessage = ({ data }: MessageEvent<CountRequest>) => {
  count ??= openCountFiles(borrowRoot(data.root), data.terms);
  self.postMessage(count(data.bunches));
};
