/** Threads that search in parallel and answer in order; a thread that is stuck in a pattern is ended. */
import { availableParallelism } from "node:os";
import { PaiError } from "../../core/error.ts";
import type { Bunch } from "./search-files.ts";
import type { SearchRequest } from "./search-worker.ts";
import type { SearchReply } from "./searcher.ts";

export interface Searchers {
  /** Queues a batch; returns the answers that are ready, in the order of the batches. null: the pattern is too slow. */
  ask(batch: readonly Bunch[]): Promise<readonly (SearchReply | null)[]>;
  /** Waits for the remaining answers. */
  rest(): Promise<readonly (SearchReply | null)[]>;
  close(): void;
}

const maxThreads = 4;
/** Batches queued for each thread, so that it never idles. */
const waitingBatches = 2;
const maxStartMs = 10_000;
const maxSilenceMs = 1000;
/** Matching time of an ordinary pattern: one second in all, and `maxMsEachMiB` for each MiB searched. */
const maxMs = 1000;
const maxMsEachMiB = 40;

/** Starts at once; the caller must close it. The threads never keep the process alive. */
export function openThreads(about: Omit<SearchRequest, "bunches">): Searchers {
  const threads = Array.from({ length: Math.min(maxThreads, Math.max(1, availableParallelism())) }, () =>
    openThread(about),
  );
  const waiting: Promise<SearchReply | null>[] = [];
  let [asked, ms, bytes] = [0, 0, 0];
  const next = async (): Promise<SearchReply | null> => {
    const reply = (await waiting.shift()) ?? null;
    ms += reply?.ms ?? 0;
    bytes += reply?.bytes ?? 0;
    return ms > maxMs + (maxMsEachMiB * bytes) / (1024 * 1024) ? null : reply;
  };
  return {
    async ask(batch) {
      const thread = threads[asked % threads.length];
      asked += 1;
      if (thread !== undefined) waiting.push(thread.ask(batch));
      const replies: (SearchReply | null)[] = [];
      while (waiting.length >= threads.length * waitingBatches) replies.push(await next());
      return replies;
    },
    async rest() {
      const replies: (SearchReply | null)[] = [];
      while (waiting.length > 0) replies.push(await next());
      return replies;
    },
    close() {
      for (const thread of threads) thread.close();
    },
  };
}

/** URL of the worker. In the compiled file modules are in the top folder, but entry points keep their path below src. */
function workerUrl(): string {
  const built = !import.meta.url.endsWith("/workspace/search/search-threads.ts");
  return new URL(built ? "./workspace/search/search-worker.ts" : "./search-worker.ts", import.meta.url).href;
}

interface Waiting {
  resolve(reply: SearchReply | null): void;
  reject(thrown: unknown): void;
}

function openThread(about: Omit<SearchRequest, "bunches">) {
  const worker = new Worker(workerUrl());
  worker.unref();
  const waiting: Waiting[] = [];
  let started = false;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const giveUp = () => {
    const error = new PaiError("internal", "the search thread did not start");
    for (const { resolve, reject } of waiting.splice(0)) started ? resolve(null) : reject(error);
  };
  /** Time is counted from the last message, and only while an answer is due. */
  const restartTimer = () => {
    if (timer !== null) clearTimeout(timer);
    timer = waiting.length === 0 ? null : setTimeout(giveUp, started ? maxSilenceMs : maxStartMs);
  };
  const send = (bunches: readonly Bunch[]) => worker.postMessage({ ...about, bunches } satisfies SearchRequest);
  const first = Promise.withResolvers<SearchReply | null>();
  waiting.push(first);
  first.promise.catch(() => {});
  worker.onmessage = ({ data }: MessageEvent<SearchReply>) => {
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
    ask(bunches: readonly Bunch[]): Promise<SearchReply | null> {
      const reply = Promise.withResolvers<SearchReply | null>();
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
