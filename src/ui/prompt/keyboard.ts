/** The user's keyboard: standard input, or the process's terminal if something is piped into standard input. */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { ReadStream } from "node:tty";
import { PaiError } from "../../core/error.ts";

export interface Keyboard {
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

export function openStdin(stdin: ReadStream): Keyboard {
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
export function openOwnTerminal(): Keyboard {
  const { O_NOCTTY, O_NONBLOCK, O_RDWR } = constants;
  let fd: number;
  try {
    fd = openSync("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK);
  } catch (cause) {
    throw new PaiError("approval_needed", "the terminal cannot be opened to ask", { cause });
  }
  const modes = new ReadStream(fd);
  return {
    fd,
    setRawMode: (on) => setMode(modes, on),
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
