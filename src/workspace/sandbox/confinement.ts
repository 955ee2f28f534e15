/** What one command may do, and the tape that sets it up before the command is run. */
import { addLandlock } from "./landlock.ts";
import type { Machine } from "./machine-code.ts";
import { addNamespaces, forkCollected } from "./namespaces.ts";
import { socketFamilies, writeFilter } from "./seccomp.ts";
import { createTape, type Tape } from "./tape.ts";

/**
 * L3: namespaces, Landlock, seccomp. L2: Landlock and seccomp. L1: seccomp. All drop capabilities.
 * Under bwrap, which makes the namespaces, the tape is one of L1.
 */
export type Level = "L3" | "L3b" | "L2" | "L1";

export interface Hidden {
  /** Absolute and real. */
  readonly path: string;
  readonly isFolder: boolean;
}

/** All paths are absolute and real. */
export interface Confinement {
  readonly level: "L3" | "L2" | "L1";
  /** Where the folder behind `workspaceFd` stands: the command may write below it. */
  readonly workspace: string;
  readonly uid: number;
  readonly gid: number;
  /** L3 makes a user namespace first: an ordinary user must, root only where it may not make the others. */
  readonly userNamespace: boolean;
  /** Changes below the workspace go to `upper` instead. null: to the workspace itself. L3 only. */
  readonly overlay: { readonly upper: string; readonly work: string } | null;
  /** Below the workspace and written even where an overlay lies on it (`.git` with --allow-git). */
  readonly throughOverlay: readonly string[];
  /** What may be written besides the workspace. */
  readonly writable: readonly string[];
  /** What stays visible below folders that L3 replaces by private ones. */
  readonly readable: readonly string[];
  /** Below what may be written, and may only be read all the same. L3 only. */
  readonly readOnly: readonly string[];
  readonly hidden: readonly Hidden[];
  /** Folders that can be written, where what is written is gone with the command. L3 only. */
  readonly caches: readonly string[];
  /** The network and local services of the host; without it: nothing, in L3 a loopback of its own. */
  readonly network: boolean;
  /** Private folder for temporary files, where /tmp is everybody's. L2 only. */
  readonly temporary: string | null;
  /** Version of Landlock here; 0: there is none. */
  readonly landlock: number;
  /** Rules of L2 for what is outside the workspace, made once: see readableRules. */
  readonly outside: readonly LandlockRule[];
  /** Who started the tape: it gives up when that is gone already. null: it cannot be seen from inside. */
  readonly parent: number | null;
}

export interface LandlockRule {
  readonly path: string;
  readonly isFolder: boolean;
  readonly rights: "read" | "write" | "device";
}

export interface Program {
  /** Where it starts; null: in the workspace as it was opened, for levels without mounts of their own. */
  readonly folder: string | null;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Both outputs in one, in order of arrival. */
  readonly mergeOutput: boolean;
  /** Whether descriptor `lifelineFd` stays open in the program. */
  readonly keepLifeline: boolean;
}

/** Descriptors that the tape finds open. */
export const reportFd = 3;
export const workspaceFd = 4;
export const lifelineFd = 5;
/** The first one that nobody gave it. */
export const firstFreeFd = 6;

/** CHOWN, DAC_OVERRIDE, FOWNER, FSETID: what root needs to work on files of others in the workspace. */
const rootCapabilities = 0x1bn;
const lastCapability = 63;
const prctl = { deathSignal: 1, dumpable: 4, dropBounding: 24, noNewPrivileges: 38 } as const;
const SIGKILL = 9;
const capabilityVersion = 0x20080522;
const resource = { fileSize: 1, core: 4, processes: 6 } as const;
const maxFileBytes = 8 * 2 ** 30;
const maxProcesses = 8192;
const closeOnExec = 4;
const filterMode = 1;

/** Set-up, then what `body` adds; when any of it fails nothing further is done, and 16 bytes say which step it was. */
export function writeConfinement(machine: Machine, confinement: Confinement, body: (tape: Tape) => void): Tape {
  const tape = createTape(machine);
  /** What parents do after a fork stands behind all that their children do. */
  const parents: (() => void)[] = [];
  tape.call("prctl", [prctl.deathSignal, SIGKILL, 0, 0, 0], { note: "die with pai" });
  if (confinement.parent !== null) tape.call("kill", [confinement.parent, 0], { note: "pai is gone" });
  tape.call("close_range", [firstFreeFd, 0xffffffff, 0], { note: "close descriptors" });
  if (confinement.level === "L3") addNamespaces(tape, confinement, parents);
  tape.call("prctl", [prctl.dumpable, 0, 0, 0, 0], { note: "dumpable" });
  tape.call("prctl", [prctl.noNewPrivileges, 1, 0, 0, 0], { note: "no_new_privs" });
  dropCapabilities(tape, confinement);
  if (confinement.level !== "L1" && confinement.landlock > 0) addLandlock(tape, confinement);
  addLimits(tape);
  addFilter(tape, confinement);
  if (confinement.level === "L3") forkCollected(tape, parents, 0, "clone command");
  body(tape);
  for (const parent of parents) parent();
  return tape;
}

/** The usual body: the program itself. Only its first three descriptors, and perhaps the lifeline, stay open. */
export function runProgram(tape: Tape, { folder, argv, env, mergeOutput, keepLifeline }: Program): void {
  if (mergeOutput) tape.call("dup3", [1, 2, 0], { note: "merge outputs" });
  // The descriptor leads past every mount that L3 has made: there the path is the only way in.
  if (folder === null) tape.call("fchdir", [workspaceFd], { note: "enter the workspace" });
  else tape.call("chdir", [tape.text(folder)], { note: "enter the workspace" });
  const [lifelineOnly] = keepLifeline ? [lifelineFd] : [];
  if (lifelineOnly === undefined) {
    tape.call("close_range", [reportFd, 0xffffffff, closeOnExec], { note: "close on exec" });
  } else {
    tape.call("close_range", [reportFd, lifelineOnly - 1, closeOnExec], { note: "close on exec" });
    tape.call("close_range", [lifelineOnly + 1, 0xffffffff, closeOnExec], { note: "close on exec" });
  }
  const texts = (all: readonly string[]) => tape.list(all.map((text) => tape.text(text)));
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  tape.call("execve", [tape.text(argv[0] ?? ""), texts(argv), texts(variables)]);
}

function dropCapabilities(tape: Tape, { uid }: Confinement): void {
  const kept = uid === 0 ? rootCapabilities : 0n;
  for (let each = 0; each <= lastCapability; each += 1) {
    const isKept = ((kept >> BigInt(each)) & 1n) === 1n;
    // Fails for those that this kernel does not know, and without CAP_SETPCAP: capset below is what counts then.
    if (!isKept) tape.call("prctl", [prctl.dropBounding, each, 0, 0, 0], { onError: "next", note: "bounding set" });
  }
  const header = Buffer.alloc(8);
  header.writeUInt32LE(capabilityVersion);
  const sets = Buffer.alloc(24);
  sets.writeUInt32LE(Number(kept), 0);
  sets.writeUInt32LE(Number(kept), 4);
  tape.call("capset", [tape.bytes(header), tape.bytes(sets)]);
}

/** No core files, files of 8 GiB, 8,192 processes of this user; and the first to go when memory ends. */
function addLimits(tape: Tape): void {
  const limit = (what: number, most: number, onError?: "next") =>
    tape.call("prlimit64", [0, what, tape.words(most, most), 0], { note: "limits", ...(onError && { onError }) });
  limit(resource.core, 0);
  limit(resource.fileSize, maxFileBytes, "next");
  limit(resource.processes, maxProcesses, "next");
}

function addFilter(tape: Tape, { level, network }: Confinement): void {
  const filter = writeFilter(tape.machine, level === "L3" || network ? socketFamilies : []);
  const program = tape.words(filter.length / 8, 0);
  tape.pointAt(program, 8, tape.bytes(filter));
  tape.call("seccomp", [filterMode, 0, program]);
}

/** The tape's own waiting processes take no signal but KILL: whoever ends a command may send its whole group TERM. */
export const blockSignals = (tape: Tape): void => {
  tape.call("rt_sigprocmask", [0, tape.words(~(1n << BigInt(SIGKILL - 1)) & 0xffffffffffffffffn), 0, 8], {
    note: "block signals",
  });
};
