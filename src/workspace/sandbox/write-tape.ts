/** Writes the tape of a command, starts it, and reports which step failed. */

import { closeSync, readFileSync, readSync } from "node:fs";
import { orNull } from "../../core/error.ts";
import { errnoName } from "../../system/libc.ts";
import { openOutput, type PipeOutput } from "../system/pipe.ts";
import { wrapInBubblewrap } from "./bubblewrap.ts";
import { type Confinement, firstFreeFd, isIsolated, maxProcesses, reportFd, workspaceFd } from "./confinement.ts";
import { addLandlock } from "./landlock.ts";
import { openMemoryFile } from "./memory-file.ts";
import { addNamespaces, forkCollected } from "./namespaces.ts";
import { socketFamilies, unixFamily, writeFilter } from "./seccomp.ts";
import { closeFrom, createTape, type Tape, writeText } from "./tape.ts";

/** CHOWN, DAC_OVERRIDE, FOWNER, FSETID: root needs them for files of other users in the workspace. */
const rootCapabilities = 0x1bn;
const lastCapability = 63;
const prctl = { deathSignal: 1, dumpable: 4, dropBounding: 24, noNewPrivileges: 38 } as const;
const SIGKILL = 9;
const capabilityVersion = 0x20080522;
const resource = { fileSize: 1, core: 4, processes: 6 } as const;
const maxFileBytes = 8 * 2 ** 30;
/** F_SETFD and FD_CLOEXEC. */
const closeOnExec = [2, 1] as const;
const filterMode = 1;
const firstWithTruncate = 3;

/** Set-up, then what `body` adds. If a record fails, the tape stops and reports it in 16 bytes. */
export function writeConfinement(confinement: Confinement, body: (tape: Tape) => void): Tape {
  const tape = createTape();
  /** They come after all records of their children. */
  const parents: (() => void)[] = [];
  tape.call("prctl", [prctl.deathSignal, SIGKILL, 0, 0, 0], { note: "die with pai" });
  // A program that starts the tape may fail before this; then no byte is reported.
  if (confinement.way === "bubblewrap")
    tape.call("write", [reportFd, tape.bytes(Buffer.from("!")), 1], { note: "report" });
  // From inside it cannot be seen.
  else tape.call("kill", [process.pid, 0], { note: "pai is gone" });
  closeFrom(tape, firstFreeFd, "close descriptors");
  if (confinement.way === "namespaces") addNamespaces(tape, confinement, parents);
  tape.call("prctl", [prctl.dumpable, 0, 0, 0, 0], { note: "dumpable" });
  tape.call("prctl", [prctl.noNewPrivileges, 1, 0, 0, 0], { note: "no_new_privs" });
  dropCapabilities(tape, confinement);
  if (confinement.landlock > 0) addLandlock(tape, confinement);
  addLimits(tape);
  addFilter(tape, confinement);
  if (isIsolated(confinement.way)) forkCollected(tape, parents, 0, "clone command");
  body(tape);
  for (const parent of parents) parent();
  return tape;
}

/** Only the first three descriptors and, where it has no process namespace, the lifeline stay open. */
export function enterProgram(tape: Tape, { way, workspace }: Confinement, mergeOutput: boolean): void {
  const isOwn = isIsolated(way);
  if (mergeOutput) tape.call("dup3", [1, 2, 0], { note: "merge outputs" });
  // With mounts of its own the descriptor would lead past every one of them, so it enters by path.
  if (isOwn) tape.call("chdir", [tape.text(workspace)], { note: "enter the workspace" });
  else tape.call("fchdir", [workspaceFd], { note: "enter the workspace" });
  // Because close_range can set close-on-exec only since Linux 5.11.
  tape.call("fcntl", [reportFd, ...closeOnExec], { note: "close on exec" });
  if (!isOwn) tape.call("close", [workspaceFd], { note: "close the workspace" });
  closeFrom(tape, isOwn ? workspaceFd : firstFreeFd, "close descriptors");
}

interface Program {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly mergeOutput: boolean;
}

export function runProgram(tape: Tape, confinement: Confinement, { argv, env, mergeOutput }: Program): void {
  enterProgram(tape, confinement, mergeOutput);
  const texts = (all: readonly string[]) => tape.list(all.map((text) => tape.text(text)));
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  tape.call("execve", [tape.text(argv[0] ?? ""), texts(argv), texts(variables)]);
}

/** As far as root in a container has them itself. */
function keptCapabilities({ way, userNamespace }: Confinement): bigint {
  if (process.getuid?.() !== 0) return 0n;
  return way === "namespaces" && userNamespace ? rootCapabilities : rootCapabilities & ownCapabilities();
}

function ownCapabilities(): bigint {
  const [, permitted = "0"] = /^CapPrm:\s*([\da-f]+)$/m.exec(readFileSync("/proc/self/status", "latin1")) ?? [];
  return BigInt(`0x${permitted}`);
}

function dropCapabilities(tape: Tape, confinement: Confinement): void {
  const kept = keptCapabilities(confinement);
  for (let each = 0; each <= lastCapability; each += 1) {
    const isKept = ((kept >> BigInt(each)) & 1n) === 1n;
    // Fails for capabilities that the kernel does not know, and without CAP_SETPCAP; capset below decides then.
    if (!isKept) tape.call("prctl", [prctl.dropBounding, each, 0, 0, 0], { onError: "next", note: "bounding set" });
  }
  const header = Buffer.alloc(8);
  header.writeUInt32LE(capabilityVersion);
  const sets = Buffer.alloc(24);
  sets.writeUInt32LE(Number(kept), 0);
  sets.writeUInt32LE(Number(kept), 4);
  tape.call("capset", [tape.bytes(header), tape.bytes(sets)]);
}

/** No core files, files of at most 8 GiB, 8,192 processes of this user, and a high OOM score. */
function addLimits(tape: Tape): void {
  const limit = (what: number, max: number, onError?: "next") =>
    tape.call("prlimit64", [0, what, tape.words(max, max), 0], { note: "limits", ...(onError && { onError }) });
  writeText(tape, "/proc/self/oom_score_adj", "500", { onError: "next" });
  // For a core that is piped to a program of the host, only a limit of exactly one byte works.
  limit(resource.core, 1);
  limit(resource.fileSize, maxFileBytes, "next");
  limit(resource.processes, maxProcesses, "next");
}

function addFilter(tape: Tape, { way, network, unixSockets, landlock }: Confinement): void {
  const isOpen = isIsolated(way) || network;
  const families = isOpen ? socketFamilies.filter((family) => unixSockets || family !== unixFamily) : [];
  const keepsLength = way === "landlock" && landlock < firstWithTruncate;
  const filter = writeFilter(tape.machine, { families, isAlone: isIsolated(way), keepsLength });
  const program = tape.words(filter.length / 8, 0);
  tape.pointAt(program, 8, tape.bytes(filter));
  tape.call("seccomp", [filterMode, 0, program]);
}

/** The program has not run. */
export interface SetupFailure {
  readonly step: string;
  readonly errno: string;
  /** Of the program that starts the tape. */
  readonly said?: string;
}

interface LaunchOptions {
  readonly workspaceFd: number;
  readonly stdin: "ignore" | "pipe";
  readonly stderr: "ignore" | "pipe";
}

export interface Launched {
  readonly child: Bun.Subprocess<"ignore" | "pipe", number, "ignore" | "pipe">;
  /** For the caller to close. */
  readonly output: PipeOutput;
  /** Call it once the child has ended. */
  finish(): SetupFailure | null;
}

const reportBytes = 16;

/** A program without a process namespace inherits a pipe that closes when pai ends. Throws a system error if nothing starts. */
export function launch(confinement: Confinement, body: (tape: Tape) => void, options: LaunchOptions): Launched {
  const tape = writeConfinement(confinement, body);
  const through = confinement.way === "bubblewrap" ? wrapInBubblewrap(confinement) : null;
  const output = openOutput();
  let fd: number | null = null;
  try {
    fd = openMemoryFile(tape.assemble());
    const child = Bun.spawn([...(through ?? [`/proc/self/fd/${fd}`])], {
      cwd: "/",
      env: {},
      detached: true,
      stdio: [
        options.stdin,
        output.writeFd,
        options.stderr,
        "pipe",
        // In a program with its own mounts the descriptor would lead past them.
        through === null ? options.workspaceFd : "ignore",
        isIsolated(confinement.way) ? "ignore" : "pipe",
        ...(through === null ? [] : [fd]),
      ],
    });
    const end = () => finish(tape, child.stdio, through === null ? null : (child.exitCode ?? -1));
    return { child: child as Launched["child"], output, finish: end };
  } catch (thrown) {
    output.close();
    throw thrown;
  } finally {
    closeSync(output.writeFd);
    if (fd !== null) closeSync(fd);
  }
}

/** `exit`: of the program that starts the tape, which first reports one byte; null: there was none. */
function finish(tape: Tape, stdio: readonly unknown[], exit: number | null): SetupFailure | null {
  const [report, lifeline] = [stdio[3], stdio[5]];
  const first = exit === null ? 0 : 1;
  const bytes = Buffer.alloc(first + reportBytes);
  const read = typeof report === "number" ? (orNull(() => readSync(report, bytes, 0, bytes.length, null)) ?? 0) : 0;
  if (typeof report === "number") closeSync(report);
  if (typeof lifeline === "number") closeSync(lifeline);
  if (read < first) return { step: "bubblewrap", errno: `exit ${exit}` };
  if (read !== bytes.length) return null;
  return {
    step: tape.noteAt(bytes.readBigUInt64LE(first)),
    errno: errnoName(-Number(bytes.readBigInt64LE(first + 8))),
  };
}
