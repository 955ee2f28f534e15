/** The terminal in raw mode for as long as one answer takes, and as it was before afterwards. */
import { closeSync, constants, openSync, readSync } from "node:fs";
import type { ReadStream } from "node:tty";
import { openTyping, pasteOff, pasteOn } from "./paste.ts";

/** Ends the reading with a value or a reason. */
export interface Settle<T> {
  readonly done: (value: T) => void;
  readonly fail: (reason: unknown) => void;
}

export interface RawInput {
  /**
   * Passes what is typed to the function `start` returns, until it settles; end of input gives null.
   * `ahead` says what happens to what was typed before: nothing typed ahead may answer a question.
   */
  readonly read: <T>(
    ahead: "keep" | "drop",
    start: (settle: Settle<T | null>) => (typed: string) => void,
  ) => Promise<T | null>;
}

export interface RawInputOptions {
  /** The terminal on standard input; opened at the first reading. */
  readonly stdin: () => ReadStream;
  readonly err: (text: string) => void;
  /** Ends any reading; its reason is thrown. */
  readonly signal: AbortSignal;
}

/** Empties what the kernel holds of standard input; in raw mode half a line is readable too. */
function dropTypedAhead(): void {
  try {
    const fd = openSync("/proc/self/fd/0", constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      const bytes = new Uint8Array(4096);
      while (readSync(fd, bytes) > 0);
    } finally {
      closeSync(fd);
    }
  } catch {
    // EAGAIN: nothing is left. Where the terminal cannot be opened again, nothing can be dropped.
  }
}

export function openRawInput({ stdin: open, err, signal }: RawInputOptions): RawInput {
  const typing = openTyping();

  async function listen<T>(stdin: ReadStream, start: (settle: Settle<T | null>) => (typed: string) => void) {
    const { promise, resolve, reject } = Promise.withResolvers<T | null>();
    const decoder = new TextDecoder();
    const take = start({ done: resolve, fail: reject });
    const feed = (chunk: Uint8Array | string) => {
      typing.push(typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true }));
      take(typing.take());
    };
    const end = () => resolve(null);
    const abort = () => reject(signal.reason);
    stdin.on("data", feed).once("end", end);
    signal.addEventListener("abort", abort, { once: true });
    stdin.resume();
    feed("");
    try {
      return await promise;
    } finally {
      stdin.off("data", feed).off("end", end);
      signal.removeEventListener("abort", abort);
    }
  }

  return {
    async read(ahead, start) {
      signal.throwIfAborted();
      const stdin = open();
      const restore = () => {
        err(pasteOff);
        stdin.setRawMode(false);
      };
      stdin.setRawMode(true);
      process.once("exit", restore);
      err(pasteOn);
      if (ahead === "drop") {
        typing.clear();
        dropTypedAhead();
      }
      try {
        return await listen(stdin, start);
      } finally {
        process.off("exit", restore);
        stdin.pause();
        restore();
      }
    },
  };
}
