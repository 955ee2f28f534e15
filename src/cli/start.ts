/** Runs one call of pai on the streams of this process, and handles Ctrl+C and other signals: the first stops, the second ends. */

import { readFileSync } from "node:fs";
import { PaiError } from "../core/error.ts";
import { hasKeyboard, isInForeground, isPipedIn, isTerminal } from "../ui/tty.ts";
import { openWriters, type Writer } from "../ui/writer.ts";
import type { Context } from "./command.ts";
import { main } from "./index.ts";
import { readPiped, readStdin } from "./read-text.ts";

/** Milliseconds that an interrupted run waits, in the end, for a terminal that takes no text. */
const finalOutputMs = 1000;

/** Reports an uncaught exception and exits with 1; exit handlers restore the terminal and end children. */
function watchMistakes(err: Writer): void {
  const end = (thrown: unknown) => {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    err.write(`pai: internal error: ${error.message}\n`);
    process.exit(1);
  };
  process.on("uncaughtException", end).on("unhandledRejection", end);
}

/** 14 instead of 0 if output could not be written (a full disk); a closed pipe is not a failure. */
function exitCodeOf(code: number, writers: readonly Writer[]): number {
  const lost = writers.find(({ failure }) => failure !== null);
  return lost !== undefined && code === 0 ? 14 : code;
}

/** Runs pai and sets the exit code; the process then ends by itself, so that no output is lost. */
export async function start(argv: readonly string[]): Promise<void> {
  const writers = openWriters();
  const [stdout, stderr] = writers;
  watchMistakes(stderr);
  const code = await main(argv, {
    env: process.env,
    cwd: process.cwd,
    out: stdout.write,
    err: stderr.write,
    shown: () => Promise.all(writers.map(({ flush }) => flush())),
    tty: { stdin: isTerminal(0), stdout: isTerminal(1), stderr: isTerminal(2), keyboard: hasKeyboard() },
    readPiped: async (signal, wait) => (isPipedIn(0) ? readPiped(signal, wait) : { text: "", note: null }),
    readStdin: async (signal) => readStdin(signal),
    ...watchSignals(writers),
    now: () => new Date(),
  });
  const isStopped = code > 128;
  const limitMs = isStopped ? finalOutputMs : Number.POSITIVE_INFINITY;
  await stdout.flush(limitMs);
  if (stdout.failure !== null) stderr.write(`pai: ${stdout.failure.message}\n`);
  await stderr.flush(limitMs);
  process.exitCode = exitCodeOf(code, writers);
  if (isStopped) endInBackground(code);
}

/** Name, number, exit code, error code, message. */
const stops = [
  ["SIGINT", 2, 130, "interrupted", "interrupted"],
  ["SIGTERM", 15, 143, "terminated", "ended by SIGTERM"],
  ["SIGHUP", 1, 129, "hangup", "the terminal was closed"],
] as const;

/** Whether the process was started with the signal ignored, as by nohup or in the background of a script. */
function isIgnored(number: number): boolean {
  try {
    const [, mask = "0"] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "latin1")) ?? [];
    return ((BigInt(`0x${mask}`) >> BigInt(number - 1)) & 1n) === 1n;
  } catch {
    return false;
  }
}

/**
 * The first signal aborts all work, which is then undone; the second ends the process at once. While a session has a
 * handler set by `onInterrupt`, Ctrl+C goes there instead (session/talk.ts). A signal that was ignored stays ignored.
 */
function watchSignals(writers: readonly Writer[]): Pick<Context, "signal" | "onInterrupt"> {
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

/**
 * Bun resets the terminal at exit, which stops a background process: after Ctrl+Z and `kill %1` the job would never
 * end. There, the signal itself ends the process, without Bun's exit.
 */
function endInBackground(code: number): void {
  const [name] = stops.find(([, , exit]) => exit === code) ?? [];
  if (name === undefined || isInForeground()) return;
  process.removeAllListeners(name);
  process.kill(process.pid, name);
}
