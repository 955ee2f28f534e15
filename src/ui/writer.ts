/** Writes text to standard output and standard error: whole, in order, without an error when the reader is gone. */
import { closeSync, constants, fstatSync, openSync, type Stats, writeSync } from "node:fs";
import { orNull, PaiError, toPaiError } from "../core/error.ts";

export type Writer = ReturnType<typeof openWriter>;

const names = { 1: "standard output", 2: "standard error" } as const;
const retryMs = 5;
const lineFeed = 10;

const statOf = (fd: number): Stats | null => orNull(() => fstatSync(fd));

/** Opens a pipe or terminal again without blocking, for signals: the descriptor's own flag is shared by processes. */
function openOwn(fd: number, stat: Stats | null): number {
  if (!stat?.isFIFO() && !stat?.isCharacterDevice()) return fd;
  const { O_WRONLY, O_NONBLOCK, O_APPEND, O_NOCTTY } = constants;
  return orNull(() => openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_APPEND | O_NOCTTY)) ?? fd;
}

/** Standard output and error; one writer if both lead to the same pipe or terminal, so that the order is kept. */
export function openWriters(): readonly [out: Writer, err: Writer] {
  const [one, other] = [statOf(1), statOf(2)];
  const isOnePlace = one?.isFile() === false && one.dev === other?.dev && one.ino === other.ino;
  const out = openWriter(1, one);
  return [out, isOnePlace ? out : openWriter(2, other)];
}

function openWriter(fd: 1 | 2, stat: Stats | null) {
  const own = openOwn(fd, stat);
  const isTerminal = stat?.isCharacterDevice() === true;
  const waiting: Uint8Array[] = [];
  let closed = false;
  let failure: PaiError | null = null;
  let idle = Promise.resolve();
  let wake: (() => void) | null = null;
  let giveUpAt = Number.POSITIVE_INFINITY;

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
      if (performance.now() > giveUpAt) waiting.length = 0;
      if (drain()) {
        wake?.();
        wake = null;
      } else drainLater();
    }, retryMs);
  }

  return {
    /** Never throws and never waits; keeps what a slow reader does not take yet, and sends it later in order. */
    write(text: string) {
      if (closed || failure !== null || text === "") return;
      waiting.push(Buffer.from(text));
      if (wake !== null || drain()) return;
      idle = new Promise((resolve) => {
        wake = resolve;
      });
      drainLater();
    },
    /** Resolves when everything is written or lost (`closed`, `failure`); gives up after `limitMs`. */
    flush(limitMs = Number.POSITIVE_INFINITY) {
      giveUpAt = performance.now() + limitMs;
      return idle;
    },
    /** Drops what a slow terminal has not taken after the current line: a person who interrupts wants no more of it. */
    skip() {
      const [head] = waiting;
      if (!isTerminal || head === undefined) return;
      const end = head.indexOf(lineFeed) + 1;
      waiting.splice(0, waiting.length, head.subarray(0, end === 0 ? head.length : end));
    },
    /** The reader is gone, or the descriptor was never open; further text is silently dropped. */
    get closed() {
      return closed;
    },
    /** Why text was lost: disk_full or io_failed. */
    get failure() {
      return failure;
    },
  };
}
