/** Starts a tape and says afterwards whether its set-up failed, and where. */
import { closeSync, readSync } from "node:fs";
import { getSystemErrorName } from "node:util";
import { type Output, openOutput } from "../system/pipe.ts";
import { openMemoryFile } from "./memory-file.ts";
import type { Tape } from "./tape.ts";

/** A step of the set-up that failed: the program was not run. */
export interface SetupFailure {
  /** The note of the step. */
  readonly step: string;
  /** Name of the error, such as EPERM. */
  readonly errno: string;
  /** What the program said that starts the tape; left out: nothing. */
  readonly said?: string;
}

export interface LaunchOptions {
  readonly workspaceFd: number;
  readonly stdin: "ignore" | "pipe";
  readonly stderr: "ignore" | "pipe";
  /** A pipe that the program inherits, and that ends when pai does. */
  readonly lifeline: boolean;
  /** A program that starts the tape, which it finds at `tapeFd`, with all its arguments. Empty: none. */
  readonly through: readonly string[];
}

export interface Launched {
  readonly child: Bun.Subprocess<"ignore" | "pipe", number, "ignore" | "pipe">;
  /** Standard output, to be read and closed. */
  readonly output: Output;
  /** To be asked once the child has ended; closes what was held open for it. */
  finish(): SetupFailure | null;
}

const reportBytes = 16;
/** The descriptor of the tape in a program that starts it. */
export const tapeFd = 6;

/** Throws a system error when the tape cannot even be started. */
export function launch(tape: Tape, options: LaunchOptions): Launched {
  const fd = openMemoryFile(tape.assemble());
  const { through, lifeline } = options;
  const output = openOutput();
  if (output === null) {
    closeSync(fd);
    throw Object.assign(new Error("EMFILE: pipe"), { code: "EMFILE" });
  }
  try {
    const child = Bun.spawn(through.length === 0 ? [`/proc/self/fd/${fd}`] : [...through], {
      cwd: "/",
      env: {},
      detached: true,
      stdio: [
        options.stdin,
        output.writeFd,
        options.stderr,
        "pipe",
        // Inside a program with its own mounts it would lead past them.
        through.length === 0 ? options.workspaceFd : "ignore",
        lifeline ? "pipe" : "ignore",
        ...(through.length === 0 ? [] : [fd]),
      ],
    });
    const end = () => finish(tape, child.stdio, through.length > 0 ? (child.exitCode ?? -1) : null);
    return { child: child as Launched["child"], output, finish: end };
  } catch (thrown) {
    output.close();
    throw thrown;
  } finally {
    closeSync(output.writeFd);
    closeSync(fd);
  }
}

/** `exit`: how the program ended that started the tape, which says first that it runs; null: there was none. */
function finish(tape: Tape, stdio: readonly unknown[], exit: number | null): SetupFailure | null {
  const [report, lifeline] = [stdio[3], stdio[5]];
  const first = exit === null ? 0 : 1;
  const bytes = Buffer.alloc(first + reportBytes);
  let read = 0;
  if (typeof report === "number") {
    try {
      read = readSync(report, bytes, 0, bytes.length, null);
    } catch {
      // Nothing was reported.
    }
    closeSync(report);
  }
  if (typeof lifeline === "number") closeSync(lifeline);
  if (read < first) return { step: "bubblewrap", errno: `exit ${exit}` };
  if (read !== bytes.length) return null;
  return { step: tape.noteAt(bytes.readBigUInt64LE(first)), errno: nameOf(bytes.readBigInt64LE(first + 8)) };
}

function nameOf(result: bigint): string {
  try {
    return getSystemErrorName(Number(result));
  } catch {
    return `error ${-result}`;
  }
}
