/** Worker that refreshes an index. Only start it as a worker: importing it would keep the process alive. */
import { borrowRoot, type LentRoot } from "../confine.ts";
import type { Repository } from "../git/find-repository.ts";
import type { PathRules } from "../path-policy.ts";
import { keepIndex } from "./keep-index.ts";

export interface IndexRequest {
  readonly root: LentRoot;
  readonly rules: PathRules;
  readonly file: string;
  readonly digest: string;
  readonly repository: Repository | null;
  readonly path: string;
}

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<IndexRequest>) => {
  try {
    await keepIndex({ ...data, root: borrowRoot(data.root), signal: new AbortController().signal });
  } catch {
    // The index is a cache: the next request works without it, like this one.
  } finally {
    self.postMessage("done");
  }
};
