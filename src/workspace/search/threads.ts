/** Threads that search files, or count in them, in parallel. */

import { availableParallelism } from "node:os";
import type { Term } from "../../core/context/words.ts";
import { PaiError } from "../../core/error.ts";
import type { LentRoot } from "../confine.ts";
import type { Bunch } from "./search-files.ts";
import type { SearchJob } from "./searcher.ts";

export interface WorkRequest {
  readonly root: LentRoot;
  /** What is done with each file: a pattern is searched, or terms are counted. */
  readonly job: SearchJob | { readonly terms: readonly Term[] };
  readonly bunches: readonly Bunch[];
}

const maxThreads = 4;
const maxStartMs = 10_000;

/**
 * Each thread starts with its first batch; the caller must close them. They never keep the process alive. `maxSilenceMs`:
 * one that gives no reply for so long is stuck.
 */
export function openThreads<Reply>(about: Omit<WorkRequest, "bunches">, maxSilenceMs: number) {
  const count = Math.min(maxThreads, Math.max(1, availableParallelism()));
  const threads: ReturnType<typeof openThread<Reply>>[] = [];
  let asked = 0;
  return {
    count,
    /** Gives the batch to the next thread. null: that thread was stuck. Rejects if it could not be started. */
    async ask(batch: readonly Bunch[]): Promise<Reply | null> {
      const at = asked % count;
      asked += 1;
      threads[at] ??= openThread<Reply>(about, maxSilenceMs);
      return threads[at].ask(batch);
    },
    close(): void {
      for (const thread of threads) thread.close();
    },
  };
}

/** URL of the worker. In the compiled file modules are in the top folder, but entry points keep their path below src. */
function workerUrl(): string {
  const built = !import.meta.url.endsWith("/workspace/search/threads.ts");
  return new URL(built ? "./workspace/search/worker.ts" : "./worker.ts", import.meta.url).href;
}

function openThread<Reply>(about: Omit<WorkRequest, "bunches">, maxSilenceMs: number) {
  const worker = new Worker(workerUrl());
  worker.unref();
  const waiting: ReturnType<typeof Promise.withResolvers<Reply | null>>[] = [];
  let started = false;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const giveUp = () => {
    const error = new PaiError("internal", "the search thread did not start");
    for (const { resolve, reject } of waiting.splice(0)) started ? resolve(null) : reject(error);
  };
  const restartTimer = () => {
    if (timer !== null) clearTimeout(timer);
    timer = waiting.length === 0 ? null : setTimeout(giveUp, started ? maxSilenceMs : maxStartMs);
  };
  const send = (bunches: readonly Bunch[]) => worker.postMessage({ ...about, bunches } satisfies WorkRequest);
  const first = Promise.withResolvers<Reply | null>();
  waiting.push(first);
  first.promise.catch(() => {});
  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    started = true;
    waiting.shift()?.resolve(data);
    restartTimer();
  };
  worker.onerror = ({ message }) => {
    for (const { reject } of waiting.splice(0)) reject(new Error(message));
  };
  restartTimer();
  send([]);
  return {
    ask(bunches: readonly Bunch[]): Promise<Reply | null> {
      const reply = Promise.withResolvers<Reply | null>();
      // A caller that stops early ignores the remaining answers.
      reply.promise.catch(() => {});
      waiting.push(reply);
      if (waiting.length === 1) restartTimer();
      send(bunches);
      return reply.promise;
    },
    close() {
      if (timer !== null) clearTimeout(timer);
      worker.terminate();
    },
  };
}
