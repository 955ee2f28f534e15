/** Counts terms in many files, with a second thread once there are many files, and in both once all are listed. */
import type { Term } from "../../core/context/words.ts";
import type { Root } from "../confine.ts";
import type { Bunch } from "../search/search-files.ts";
import { type CountReply, openCountFiles } from "./count-files.ts";
import type { CountRequest } from "./count-worker.ts";

export interface CountPool {
  /** Queues files; returns at once. */
  add(batch: readonly Bunch[]): void;
  /** Reads the rest until time is up; the result says how many files were left unread. */
  finish(
    isLate: () => boolean,
    signal: AbortSignal,
  ): Promise<{ readonly replies: readonly CountReply[]; readonly unread: number }>;
  close(): void;
}

/** A thread is started only for more batches than this. */
const batchesBeforeThread = 3;
const batchesAhead = 2;

const sizeOf = (batch: readonly Bunch[]) =>
  batch.reduce((sum, bunch) => sum + ("names" in bunch ? bunch.names.length : 1), 0);

/** URL of the worker. In the compiled file modules are in the top folder, but entry points keep their path below src. */
function workerUrl(): string {
  const built = !import.meta.url.endsWith("/workspace/context/count-pool.ts");
  return new URL(built ? "./workspace/context/count-worker.ts" : "./count-worker.ts", import.meta.url).href;
}

interface Thread {
  readonly waiting: (readonly Bunch[])[];
  send(batch: readonly Bunch[]): void;
  close(): void;
}

export function openCountPool(root: Root, terms: readonly Term[]): CountPool {
  const queue: (readonly Bunch[])[] = [];
  const replies: CountReply[] = [];
  let thread: Thread | null = null;
  let failed = false;
  let wake: (() => void) | null = null;
  let countHere: ((bunches: readonly Bunch[]) => CountReply) | null = null;

  const feed = (): void => {
    if (failed || (thread === null && queue.length < batchesBeforeThread)) return;
    thread ??= startThread();
    while (thread.waiting.length < batchesAhead) {
      const batch = queue.shift();
      if (batch === undefined) return;
      thread.send(batch);
    }
  };

  const startThread = (): Thread => {
    const worker = new Worker(workerUrl(), { smol: true });
    worker.unref();
    const waiting: (readonly Bunch[])[] = [];
    worker.onmessage = ({ data }: MessageEvent<CountReply>) => {
      waiting.shift();
      replies.push(data);
      feed();
      wake?.();
    };
    // The batches of the failed worker are counted in the main thread instead.
    worker.onerror = () => {
      failed = true;
      queue.push(...waiting.splice(0));
      wake?.();
    };
    return {
      waiting,
      send(batch) {
        waiting.push(batch);
        worker.postMessage({ root: root.lent, terms, bunches: batch } satisfies CountRequest);
      },
      close: () => worker.terminate(),
    };
  };

  return {
    add(batch) {
      queue.push(batch);
      feed();
    },
    async finish(isLate, signal) {
      for (;;) {
        signal.throwIfAborted();
        const late = isLate();
        const batch = late ? undefined : queue.shift();
        if (batch !== undefined) {
          countHere ??= openCountFiles(root, terms);
          replies.push(countHere(batch));
        } else if (late || (thread?.waiting.length ?? 0) === 0) break;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
            setTimeout(resolve, 100);
          });
          wake = null;
        }
        // Lets the worker's messages and the user's keys in.
        await Bun.sleep(0);
      }
      const left = [...queue, ...(thread?.waiting ?? [])];
      return { replies, unread: left.reduce((sum, each) => sum + sizeOf(each), 0) };
    },
    close() {
      thread?.close();
    },
  };
}
