/** The only way text leaves the process: whole, in order, and calm when the other end is gone. */
import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { PaiError, toPaiError } from "../core/error.ts";

export interface Writer {
  /** Never throws and never waits; what a slow reader does not take yet is kept and sent later, in order. */
  readonly write: (text: string) => void;
  /** Resolves when everything is written, or never will be (`closed`, `failure`). */
  readonly flush: () => Promise<void>;
  /** The reader has gone, or the descriptor was never open: no error, further text is dropped. */
  readonly closed: boolean;
  /** Why text was lost: disk_full or io_failed. */
  readonly failure: PaiError | null;
}

const names = { 1: "standard output", 2: "standard error" } as const;
const retryMs = 5;

/**
 * A pipe is opened again for ourselves, so that it does not wait for its reader.
 * Setting the flag on the descriptor itself would change it for every process that shares it.
 */
function openOwn(fd: number): number {
  try {
    return fstatSync(fd).isFIFO()
      ? openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_APPEND)
      : fd;
  } catch {
    return fd;
  }
}

/** Writes to standard output or error without loading Node's streams. Call it once for each. */
export function openWriter(fd: 1 | 2): Writer {
  const own = openOwn(fd);
  const waiting: Uint8Array[] = [];
  let closed = false;
  let failure: PaiError | null = null;
  let idle = Promise.resolve();
  let wake: (() => void) | null = null;

  function stop(thrown: unknown): void {
    const code = (thrown as NodeJS.ErrnoException).code;
    if (code === "EPIPE" || code === "EBADF") closed = true;
    else {
      const cause = toPaiError(thrown);
      failure = new PaiError(
        cause.code === "disk_full" ? "disk_full" : "io_failed",
        `cannot write to ${names[fd]}: ${cause.message}`,
        { cause: thrown, hint: `The run itself is not affected; send ${names[fd]} to a place that can take it` },
      );
    }
    waiting.length = 0;
    if (own !== fd) closeSync(own);
  }

  /** Sends what the reader takes now; true when nothing is left. */
  function drain(): boolean {
    for (let head = waiting[0]; head !== undefined; head = waiting[0]) {
      try {
        const sent = writeSync(own, head);
        if (sent === head.length) waiting.shift();
        else waiting[0] = head.subarray(sent);
      } catch (thrown) {
        const code = (thrown as NodeJS.ErrnoException).code;
        if (code === "EAGAIN") return false;
        if (code !== "EINTR") stop(thrown);
      }
    }
    return true;
  }

  function drainLater(): void {
    setTimeout(() => {
      if (drain()) {
        wake?.();
        wake = null;
      } else drainLater();
    }, retryMs);
  }

  return {
    write(text) {
      if (closed || failure !== null || text === "") return;
      waiting.push(Buffer.from(text));
      if (wake !== null || drain()) return;
      idle = new Promise((resolve) => {
        wake = resolve;
      });
      drainLater();
    },
    flush: () => idle,
    get closed() {
      return closed;
    },
    get failure() {
      return failure;
    },
  };
}
