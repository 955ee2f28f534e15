/** Puts the terminal into raw mode for one answer and restores it afterwards, whatever happens. */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { ReadStream } from "node:tty";
import { PaiError } from "../../core/error.ts";
import { isInForeground, openTyped, readTyped } from "../tty.ts";
import { type Keys, type Keystroke, kittyOff, kittyOn, openKeys, pasteOff, pasteOn } from "./keystrokes.ts";

export interface Settle<T> {
  readonly done: (value: T) => void;
  readonly fail: (reason: unknown) => void;
  /** Restores the terminal and stops the process, like Ctrl+Z elsewhere. */
  readonly stop: () => void;
}

export interface Reader {
  /** If it returns a promise, which never rejects, the next key waits for it. */
  readonly press: (key: Keystroke) => void | Promise<void>;
  /** The stopped process continues; other output may be above the cursor. */
  readonly resume: () => void;
  readonly resize: () => void;
  /** The reading ends without an answer: by a signal, the end of the terminal, or of the process. */
  readonly cut: () => void;
}

interface Keyboard {
  readonly fd: number;
  readonly setRawMode: (on: boolean) => void;
  /** Passes on what is typed, and the end of the terminal, until the returned function is called. */
  readonly listen: (take: (chunk: Uint8Array | string) => void, end: () => void) => () => void;
  /** Call it after each reading: an open keyboard would keep the process alive. */
  readonly close: () => void;
}

/** Sets the mode of a terminal. Of one that is gone nothing can be set, and reading it ends. */
function setMode(terminal: ReadStream, on: boolean): void {
  try {
    terminal.setRawMode(on);
  } catch {}
}

function openStdin(stdin: ReadStream): Keyboard {
  return {
    fd: 0,
    setRawMode: (on) => setMode(stdin, on),
    listen(take, end) {
      stdin.on("data", take).once("end", end);
      stdin.resume();
      return () => void stdin.off("data", take).off("end", end).pause();
    },
    close() {},
  };
}

/** Milliseconds between polls. A blocking read could not be cancelled, and would take the next key from the shell. */
const tickMs = 20;

/** Opens the controlling terminal. Throws approval_needed without one. */
function openOwnTerminal(): Keyboard {
  const { O_NOCTTY, O_NONBLOCK, O_RDWR } = constants;
  let fd: number;
  try {
    fd = openSync("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK);
  } catch (cause) {
    throw new PaiError("approval_needed", "the terminal cannot be opened to ask", { cause });
  }
  const terminal = new ReadStream(fd);
  return {
    fd,
    setRawMode: (on) => setMode(terminal, on),
    listen(take, end) {
      const bytes = new Uint8Array(4096);
      const timer = setInterval(() => {
        try {
          const size = readSync(fd, bytes);
          if (size > 0) take(bytes.slice(0, size));
          else end();
        } catch (thrown) {
          if ((thrown as NodeJS.ErrnoException).code !== "EAGAIN") end();
        }
      }, tickMs);
      return () => clearInterval(timer);
    },
    close: () => closeSync(fd),
  };
}

/** Milliseconds to wait for the rest of a sequence, as the line may be slow. */
const sequenceMs = 80;

/** Milliseconds after which all signals that arrived together have been handled. */
const wakeMs = 50;

/** What the terminal supports: nothing, marked pastes, or also the key encoding of kitty. */
const modes = { dumb: ["", ""], legacy: [pasteOn, pasteOff], kitty: [pasteOn + kittyOn, kittyOff + pasteOff] } as const;

/** Discards typed input that the kernel still holds; in raw mode that includes half a line. `from`: the terminal. */
function dropTypedAhead(from: number): void {
  const fd = openTyped(from);
  if (fd === null) return;
  readTyped(fd, new TextDecoder());
  closeSync(fd);
}

/** Passes on the keys that have arrived until `isOver`; waits a moment for the rest of an incomplete sequence. */
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

/** `isStdinKeyboard`: keys come from standard input; otherwise from the terminal of the process, opened for each reading. */
export function openRawInput(
  isStdinKeyboard: boolean,
  terminal: keyof typeof modes,
  { err, signal }: { readonly err: (text: string) => void; readonly signal: AbortSignal },
) {
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
    const feed = openFeed(keys, reader.press, () => settled);
    const take = (chunk: Uint8Array | string) => {
      keys.push(typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true }));
      feed();
    };
    const end = (reason: unknown) => {
      cut();
      reject(reason);
    };
    const abort = () => end(signal.reason);
    const hangUp = () => end(new PaiError("hangup", "the terminal was closed"));
    const goOn = () => {
      if (settled) return;
      keyboard.setRawMode(false);
      keyboard.setRawMode(true);
      err(on);
      reader.resume();
    };
    /** Continued in the background, it stops again so that the shell notices, unless a signal to end came too. */
    const wake = () => {
      if (isInForeground()) goOn();
      else
        setTimeout(() => {
          if (isInForeground()) goOn();
          else if (!settled) process.kill(0, "SIGTTOU");
        }, wakeMs);
    };
    const leave = keyboard.listen(take, hangUp);
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
    /**
     * Passes what is typed to the reader that `start` returns, until it settles. `ahead` decides about earlier input:
     * nothing that was typed ahead may answer a question. Throws hangup when the terminal is gone, and the signal's reason.
     */
    async read<T>(ahead: "keep" | "drop", start: (settle: Settle<T | null>) => Reader): Promise<T | null> {
      signal.throwIfAborted();
      const keyboard = isStdinKeyboard ? openStdin(process.stdin) : openOwnTerminal();
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
