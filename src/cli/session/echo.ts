/** While a run works, what is typed waits for the next prompt and is not echoed into the run's output. */
import { isInForeground } from "../../ui/tty.ts";
import { openLibc } from "../../workspace/system/libc.ts";

/**
 * Where the local flags stand in `struct termios` of Linux (glibc and musl): the last of four 32-bit words,
 * little-endian.
 */
const localFlagsAt = 12;
const termiosBytes = 128;
const echo = 0o10;
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

function withoutEcho(termios: Uint8Array): Uint8Array {
  return termios.map((byte, at) => (at === localFlagsAt ? byte & ~echo : byte));
}

let termios: ReturnType<typeof openTermios> | undefined;

/**
 * Turns the echo off and returns what turns it on again; the end of the process does so, too. Without a terminal:
 * nothing.
 */
export function stopEcho(): () => void {
  termios ??= openTermios();
  const before = termios?.read() ?? null;
  if (termios == null || before === null) return () => {};
  const { write } = termios;
  const hush = () => write(withoutEcho(before));
  /** Ctrl+Z: the echo is on while the shell has the terminal, as not every shell turns it on itself. */
  const stop = () => {
    write(before);
    process.off("SIGTSTP", stop);
    process.kill(process.pid, "SIGTSTP");
    process.on("SIGTSTP", stop);
    hush();
  };
  const restore = () => {
    process.off("SIGTSTP", stop).off("SIGCONT", hush).off("exit", restore);
    write(before);
  };
  process.on("SIGTSTP", stop).on("SIGCONT", hush).once("exit", restore);
  hush();
  return restore;
}
