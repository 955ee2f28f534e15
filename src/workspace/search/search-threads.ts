/** Threads that search side by side and answer in order; one that does not come back from a pattern is ended. */
import { availableParallelism } from "node:os";
import { PaiError } from "../../core/error.ts";
import type { Bunch } from "./search-files.ts";
import type { SearchRequest } from "./search-worker.ts";
import type { SearchReply } from "./searcher.ts";

export interface Searchers {
  /** Takes a batch; the answers that have come meanwhile, in the order of the batches. null: the pattern is too slow. */
  ask(batch: readonly Bunch[]): Promise<readonly (SearchReply | null)[]>;
  /** The answers that are still to come. */
  rest(): Promise<readonly (SearchReply | null)[]>;
  close(): void;
}

const maxThreads = 4;
/** Batches a thread may have waiting, so that it never waits itself. */
const waitingBatches = 2;
const maxStartMs = 10_000;
const maxSilenceMs = 1000;
/** Time an ordinary pattern is allowed: a second, and so much for each MiB. */
const maxMs = 1000;
const maxMsEachMiB = 40;

/** Started at once, and must be closed; they never keep the process from ending. */
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

/** In the built file every module is in the top folder, but an entry point keeps its folder below src. */
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
  /** Counts from the last sign of life, and only while an answer is due. */
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
      // Whoever stops early never looks at the rest.
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
