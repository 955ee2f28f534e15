/** Worker that refreshes an index. Only start it as a worker: importing it would keep the process alive. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { borrowRoot, type LentRoot } from "../confine.ts";
import type { Repository } from "../git/find-repository.ts";
import type { PathRules } from "../path-policy.ts";
import { openIndex } from "./index-file.ts";
import { refreshIndex } from "./refresh.ts";

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
    mkdirSync(dirname(data.file), { recursive: true, mode: 0o700 });
    const index = openIndex(data.file, data.digest, true);
    if (index === null) return;
    const root = borrowRoot(data.root);
    await refreshIndex({ ...data, root, index, signal: new AbortController().signal }).finally(() => index.close());
  } catch {
    // The index is a cache: the next request works without it, like this one.
  } finally {
    self.postMessage("done");
  }
};
