/** The terminal in raw mode for as long as one answer takes, and as it was before afterwards, whatever happens. */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { isInForeground } from "../tty.ts";
import type { Keyboard } from "./keyboard.ts";
import { type Key, type Keys, kittyOff, kittyOn, openKeys, pasteOff, pasteOn } from "./keystrokes.ts";

/** Ends the reading with a value or a reason. */
export interface Settle<T> {
  readonly done: (value: T) => void;
  readonly fail: (reason: unknown) => void;
  /** Gives the terminal back and stops the process, as Ctrl+Z does elsewhere. */
  readonly stop: () => void;
}

/** Takes what is typed. */
export interface Reader {
  /** A promise: the next key waits for it. It never rejects. */
  readonly press: (key: Key) => void | Promise<void>;
  /** The process was stopped and goes on, below whatever was printed meanwhile. */
  readonly resume: () => void;
  /** The terminal has another size. */
  readonly resize: () => void;
  /** The reading ends before it was settled: by a signal, the end of the terminal, or of the process. */
  readonly cut: () => void;
}

export interface RawInput {
  /** Keys that were read elsewhere: a reading that keeps what was typed before begins with them. */
  readonly typeAhead: (keys: string) => void;
  /**
   * Passes what is typed to the reader that `start` returns, until it settles; end of input gives null.
   * `ahead` says what happens to what was typed before: nothing typed ahead may answer a question.
   */
  readonly read: <T>(ahead: "keep" | "drop", start: (settle: Settle<T | null>) => Reader) => Promise<T | null>;
}

export interface RawInputOptions {
  /** Opened for each reading. */
  readonly keyboard: () => Keyboard;
  readonly err: (text: string) => void;
  /** Ends any reading; its reason is thrown. */
  readonly signal: AbortSignal;
  /** What the terminal understands: nothing, marked pastes, or kitty's spelling of keys too. */
  readonly terminal: "dumb" | "legacy" | "kitty";
}

/** How long the rest of a sequence may take over a slow line. */
const sequenceMs = 80;

/** After this long all signals that came together have been handled. */
const wakeMs = 50;

const modes = {
  dumb: ["", ""],
  legacy: [pasteOn, pasteOff],
  kitty: [pasteOn + kittyOn, kittyOff + pasteOff],
} as const;

/** Empties what the kernel holds of what was typed; in raw mode half a line is readable too. `from`: the terminal. */
function dropTypedAhead(from: number): void {
  try {
    const fd = openSync(`/proc/self/fd/${from}`, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
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

/** Passes the keys that have arrived until `isOver`; a sequence that stays half waits a moment for its rest. */
function openFeed(keys: Keys, press: Reader["press"], isOver: () => boolean): () => void {
  let patience: ReturnType<typeof setTimeout> | null = null;
  let busy = false;
  const nextKey = () => (busy || isOver() ? null : keys.next());
  return function feed() {
    for (let key = nextKey(); key !== null; key = nextKey()) {
      const work = press(key);
      if (work === undefined) continue;
      busy = true;
      void work.then(() => {
        busy = false;
        feed();
      });
    }
    if (patience !== null) clearTimeout(patience);
    patience = null;
    if (busy || isOver() || !keys.begun) return;
    patience = setTimeout(() => {
      keys.settle();
      feed();
    }, sequenceMs);
  };
}

export function openRawInput({ keyboard: open, err, signal, terminal }: RawInputOptions): RawInput {
  const keys = openKeys();
  const [on, off] = modes[terminal];

  async function listen<T>(keyboard: Keyboard, start: (settle: Settle<T | null>) => Reader, stop: () => void) {
    const { promise, resolve, reject } = Promise.withResolvers<T | null>();
    const decoder = new TextDecoder();
    let settled = false;
    const cut = () => {
      if (!settled) reader.cut();
      settled = true;
    };
    const settle = <V>(act: (value: V) => void) => {
      return (value: V) => {
        settled = true;
        act(value);
      };
    };
    const reader = start({ done: settle(resolve), fail: settle(reject), stop });
    const feed = openFeed(
      keys,
      (key) => reader.press(key),
      () => settled,
    );
    const take = (chunk: Uint8Array | string) => {
      keys.push(typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true }));
      feed();
    };
    const end = () => {
      cut();
      resolve(null);
    };
    const abort = () => {
      cut();
      reject(signal.reason);
    };
    const goOn = () => {
      if (settled) return;
      keyboard.setRawMode(false);
      keyboard.setRawMode(true);
      err(on);
      reader.resume();
    };
    /** Continued in the background, it stops again for the shell to see, unless the signal that ends it came along. */
    const wake = () => {
      if (isInForeground()) goOn();
      else
        setTimeout(() => {
          if (isInForeground()) goOn();
          else if (!settled) process.kill(0, "SIGTTOU");
        }, wakeMs);
    };
    const leave = keyboard.listen(take, end);
    process.on("SIGCONT", wake);
    process.prependOnceListener("exit", cut);
    process.stderr.on("resize", reader.resize);
    signal.addEventListener("abort", abort, { once: true });
    feed();
    try {
      return await promise;
    } finally {
      leave();
      process.off("SIGCONT", wake);
      process.off("exit", cut);
      process.stderr.off("resize", reader.resize);
      signal.removeEventListener("abort", abort);
    }
  }

  return {
    typeAhead: keys.push,
    async read(ahead, start) {
      signal.throwIfAborted();
      const keyboard = open();
      const restore = () => {
        if (!isInForeground()) return;
        err(off);
        keyboard.setRawMode(false);
      };
      const stop = () => {
        restore();
        process.kill(0, "SIGTSTP");
      };
      keyboard.setRawMode(true);
      process.once("exit", restore);
      err(on);
      if (ahead === "drop") {
        keys.clear();
        dropTypedAhead(keyboard.fd);
      }
      try {
        return await listen(keyboard, start, stop);
      } finally {
        process.off("exit", restore);
        restore();
        keyboard.close();
      }
    },
  };
}
