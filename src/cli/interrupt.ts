/** Handles Ctrl+C and other signals: the first stops the work, which is then undone; the second ends the process. */
import { PaiError } from "../core/error.ts";
import { isInForeground } from "../ui/tty.ts";
import type { Writer } from "../ui/writer.ts";
import type { Context } from "./command.ts";

const stops = [
  ["SIGINT", 130, "interrupted", "interrupted"],
  ["SIGTERM", 143, "terminated", "ended by SIGTERM"],
  ["SIGHUP", 129, "hangup", "the terminal was closed"],
] as const;

/**
 * The first signal aborts all work, which is then undone; the second ends the process at once. While a session has a
 * handler set by `onInterrupt`, Ctrl+C goes there instead (session/talk.ts).
 */
export function watchSignals(writers: readonly Writer[]): Pick<Context, "signal" | "onInterrupt"> {
  const controller = new AbortController();
  let taken: (() => void) | null = null;
  for (const [name, exit, code, message] of stops) {
    process.on(name, () => {
      for (const { skip } of writers) skip();
      if (name === "SIGINT" && taken !== null) return taken();
      if (controller.signal.aborted) process.exit(exit);
      controller.abort(new PaiError(code, message));
    });
  }
  return {
    signal: controller.signal,
    onInterrupt: (handler) => {
      taken = handler;
    },
  };
}

/**
 * Bun resets the terminal at exit, which stops a background process: after Ctrl+Z and `kill %1` the job would never
 * end. There, the signal itself ends the process, without Bun's exit.
 */
export function endInBackground(code: number): void {
  const [name] = stops.find(([, exit]) => exit === code) ?? [];
  if (name === undefined || isInForeground()) return;
  process.removeAllListeners(name);
  process.kill(process.pid, name);
}
