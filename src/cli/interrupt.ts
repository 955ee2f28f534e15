/** Ctrl+C and other signals: the first stops the work, which is undone, the second ends the process. */
import { PaiError } from "../core/error.ts";
import { textOfSystem } from "../system/lookups.ts";
import { isInForeground } from "../ui/tty.ts";
import type { Writer } from "../ui/writer.ts";
import type { Context } from "./command.ts";

/** Name, number, exit code, error code, message. */
const stops = [
  ["SIGINT", 2, 130, "interrupted", "interrupted"],
  ["SIGTERM", 15, 143, "terminated", "ended by SIGTERM"],
  ["SIGHUP", 1, 129, "hangup", "the terminal was closed"],
] as const;

/** Whether the process was started with the signal ignored, as by nohup or in the background of a script. */
function isIgnored(number: number): boolean {
  const [, mask = "0"] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(textOfSystem("/proc/self/status")) ?? [];
  return ((BigInt(`0x${mask}`) >> BigInt(number - 1)) & 1n) === 1n;
}

/**
 * The first signal aborts all work, which is then undone; the second ends the process at once. While a session has a
 * handler set by `onInterrupt`, Ctrl+C goes there instead (session/talk.ts). A signal that was ignored stays ignored.
 */
export function watchSignals(writers: readonly Writer[]): Pick<Context, "signal" | "onInterrupt"> {
  const controller = new AbortController();
  let taken: (() => void) | null = null;
  for (const [name, number, exit, code, message] of stops) {
    if (isIgnored(number)) continue;
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

/** In the background Bun's exit, which resets the terminal, would stop the process: there the signal itself ends it. */
export function endInBackground(code: number): void {
  const [name] = stops.find(([, , exit]) => exit === code) ?? [];
  if (name === undefined || isInForeground()) return;
  process.removeAllListeners(name);
  process.kill(process.pid, name);
}
