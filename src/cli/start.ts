/** Runs the process around a command: streams, exit code, uncaught exceptions. */

import { hasKeyboard, isPipedIn, isTerminal } from "../ui/tty.ts";
import { openWriters, type Writer } from "../ui/writer.ts";
import { main } from "./index.ts";
import { endInBackground, watchSignals } from "./interrupt.ts";
import { readPiped } from "./piped-input.ts";
import { readStdin } from "./read-text.ts";

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
