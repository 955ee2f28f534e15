/** Starts a tape and reports which step of its set-up failed, if any. */
import { closeSync, readSync } from "node:fs";
import { getSystemErrorName } from "node:util";
import { openOutput, type PipeOutput } from "../system/pipe.ts";
import { openMemoryFile } from "./memory-file.ts";
import type { Tape } from "./tape.ts";

/** A failed step of the set-up; the program has not run. */
export interface SetupFailure {
  readonly step: string;
  /** Name of the error, such as EPERM. */
  readonly errno: string;
  /** Error output of the program that starts the tape; left out: none. */
  readonly said?: string;
}

export interface LaunchOptions {
  readonly workspaceFd: number;
  readonly stdin: "ignore" | "pipe";
  readonly stderr: "ignore" | "pipe";
  /** Whether the program inherits a pipe that closes when pai ends. */
  readonly lifeline: boolean;
  /** Command line of a program that starts the tape, which is open at `tapeFd`. Empty: none. */
  readonly through: readonly string[];
}

export interface Launched {
  readonly child: Bun.Subprocess<"ignore" | "pipe", number, "ignore" | "pipe">;
  /** Standard output, for the caller to read and close. */
  readonly output: PipeOutput;
  /** Call it once the child has ended; closes what was open for the child. */
  finish(): SetupFailure | null;
}

const reportBytes = 16;
/** Descriptor of the tape in the program that starts it. */
export const tapeFd = 6;

/** Throws a system error if the tape cannot be started at all. */
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
        // In a program with its own mounts the descriptor would lead past them.
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

/** `exit`: exit code of the program that starts the tape, which first reports one byte; null: there was none. */
function finish(tape: Tape, stdio: readonly unknown[], exit: number | null): SetupFailure | null {
  const [report, lifeline] = [stdio[3], stdio[5]];
  const first = exit === null ? 0 : 1;
  const bytes = Buffer.alloc(first + reportBytes);
  let read = 0;
  if (typeof report === "number") {
    try {
      read = readSync(report, bytes, 0, bytes.length, null);
    } catch {
      // There is no report.
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
