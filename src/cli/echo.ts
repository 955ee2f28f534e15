/** While a run works, what is typed waits for the next prompt and is not echoed into the run's output. */
import { isInForeground } from "../ui/tty.ts";
import { openLibc } from "../workspace/libc.ts";

/** `struct termios` of Linux, whichever the C library: four words of flags, the local ones last, their low byte first. */
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

/** Returns how it becomes as it was, which the end of the process does too. Does nothing where there is no terminal. */
export function stopEcho(): () => void {
  termios ??= openTermios();
  const before = termios?.read() ?? null;
  if (termios == null || before === null) return () => {};
  const { write } = termios;
  const hush = () => write(withoutEcho(before));
  /** Not every shell gives itself its echo back when it goes on. */
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
