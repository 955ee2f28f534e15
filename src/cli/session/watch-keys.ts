/** While a run works: Escape stops it, and other keys are kept, without echo, for the next prompt. */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { openLibc } from "../../system/libc.ts";
import { isInForeground } from "../../ui/tty.ts";

/**
 * Offset of the local flags in Linux's `struct termios` (glibc and musl): the last of four little-endian 32-bit words.
 */
const localFlagsAt = 12;
const termiosBytes = 128;
const echo = 0o10;
const canonical = 0o2;
const now = 0;

function openTermios() {
  const libc = openLibc({
    tcgetattr: { args: ["i32", "buffer"], returns: "i32" },
    tcsetattr: { args: ["i32", "i32", "buffer"], returns: "i32" },
  });
  if (libc === null) return null;
  const { tcgetattr, tcsetattr } = libc.functions;
  return {
    read(): Uint8Array | null {
      const termios = new Uint8Array(termiosBytes);
      return tcgetattr(0, termios) === 0 ? termios : null;
    },
    write(termios: Uint8Array): void {
      // In the background this would stop the process.
      if (isInForeground()) tcsetattr(0, now, termios);
    },
  };
}

/** Without echo and line mode: otherwise a line arrives only with Enter, and Escape not before it. */
function hushed(termios: Uint8Array): Uint8Array {
  return termios.map((byte, at) => (at === localFlagsAt ? byte & ~(echo | canonical) : byte));
}

const isHushed = (termios: Uint8Array): boolean => ((termios[localFlagsAt] ?? 0) & (echo | canonical)) === 0;

let termios: ReturnType<typeof openTermios> | undefined;

/** Reads what has been typed, without waiting; "" for nothing. */
function readTyped(fd: number): string {
  const bytes = new Uint8Array(4096);
  let typed = "";
  try {
    for (let size = readSync(fd, bytes); size > 0; size = readSync(fd, bytes))
      typed += Buffer.from(bytes.subarray(0, size)).toString("latin1");
  } catch {
    // EAGAIN: nothing is left.
  }
  return typed;
}

/**
 * Keeps only lines of several words that were typed before a question, joined to one: a single word could be an answer.
 */
function unsent(typed: string): string {
  const lines = typed.split(/[\r\n]+/).filter((line) => /\S\s+\S/.test(line));
  return lines.map((line) => `${line.trim()} `).join("");
}

/** Lines typed ahead of a stop, as one line that is not sent: who stops the work does not want the next task begun. */
const joined = (typed: string): string => typed.replace(/[\r\n]+/g, " ");

export interface KeyWatch {
  /**
   * Leaves the terminal to a question until `resume`. Keys typed before it never answer it: only several words are
   * kept, and they are not sent.
   */
  readonly pause: () => void;
  readonly resume: () => void;
  /**
   * Restores the terminal; returns what was typed meanwhile, without the Escape that stopped the work. `isStopped`: the
   * user stopped the work, so none of it is sent.
   */
  readonly stop: (isStopped: boolean) => string;
}

const off: KeyWatch = { pause() {}, resume() {}, stop: () => "" };

/** Milliseconds between polls, and the time for the rest of a key that begins with Escape. */
const tickMs = 100;

/** Reads keys until `stop`; the end of the process restores the terminal too. Does nothing without a terminal. */
export function watchKeys(onEscape: () => void): KeyWatch {
  termios ??= openTermios();
  const before = termios?.read() ?? null;
  if (termios == null || before === null) return off;
  const { read, write } = termios;
  const fd = openSync("/proc/self/fd/0", constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  let typed = "";
  let paused = false;
  const hush = () => {
    const now = read();
    if (now !== null && !isHushed(now)) write(hushed(before));
  };
  /** On Ctrl+Z, turns the echo on for the shell, as not every shell does that itself. */
  const suspend = () => {
    write(before);
    process.off("SIGTSTP", suspend);
    process.kill(process.pid, "SIGTSTP");
    process.on("SIGTSTP", suspend);
    hush();
  };
  const tick = () => {
    // In the background, accessing the terminal would stop the process.
    if (paused || !isInForeground()) return;
    // A question, for example, may have turned the echo on.
    hush();
    const wasEscape = typed.endsWith("\x1b");
    const more = readTyped(fd);
    typed += more;
    if (!wasEscape || more !== "") return;
    typed = typed.slice(0, -1);
    onEscape();
  };
  const timer = setInterval(tick, tickMs);
  const restore = () => {
    clearInterval(timer);
    process.off("SIGTSTP", suspend).off("SIGCONT", hush).off("exit", restore);
    write(before);
  };
  process.on("SIGTSTP", suspend).on("SIGCONT", hush).once("exit", restore);
  hush();
  return {
    pause() {
      if (isInForeground()) typed += readTyped(fd);
      paused = true;
      typed = unsent(typed);
    },
    resume() {
      paused = false;
    },
    stop(isStopped) {
      if (!paused && isInForeground()) typed += readTyped(fd);
      closeSync(fd);
      restore();
      return Buffer.from(isStopped ? joined(typed) : typed, "latin1").toString();
    },
  };
}
