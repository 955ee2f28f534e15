/** Worker that searches files or counts in them. Only start it as a worker: importing it would keep the process alive. */
import { borrowRoot } from "../confine.ts";
import { type CountReply, openCountFiles } from "../context/count-files.ts";
import type { Bunch } from "./search-files.ts";
import { openSearcher, type SearchReply } from "./searcher.ts";
import type { WorkRequest } from "./threads.ts";

declare const self: Worker;

let work: ((bunches: readonly Bunch[]) => SearchReply | CountReply) | null = null;

self.onmessage = ({ data: { root, job, bunches } }: MessageEvent<WorkRequest>) => {
  work ??= "terms" in job ? openCountFiles(borrowRoot(root), job.terms) : openSearcher(borrowRoot(root), job);
  self.postMessage(work(bunches));
};
