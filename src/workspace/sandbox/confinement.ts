/** What one command may do: the values that the tape of a command is written from. */
import type { SandboxLevel } from "../../core/command/sandbox.ts";

export interface Hidden {
  /** Absolute and real. */
  readonly path: string;
  readonly isFolder: boolean;
}

/** All paths are absolute and real. */
export interface Confinement {
  /** L3: namespaces, Landlock, seccomp. L3b: bwrap has made the namespaces. L2: Landlock, seccomp. L1: seccomp. */
  readonly level: SandboxLevel;
  /** Path of the folder behind `workspaceFd`. */
  readonly workspace: string;
  /** Whether Landlock lets the command write below the workspace. With mounts of its own `readOnly` says the same. */
  readonly workspaceRights: "read" | "write";
  readonly uid: number;
  readonly gid: number;
  /** L3 makes a user namespace first: an ordinary user must, root only where it may not make the others. */
  readonly userNamespace: boolean;
  /** Changes below the workspace go to `upper` instead. null: to the workspace itself. L3 only. */
  readonly overlay: { readonly upper: string; readonly work: string } | null;
  /** Below the workspace and written even where an overlay lies on it (`.git` with --allow-git). */
  readonly throughOverlay: readonly string[];
  /** Mounts below the workspace, which an overlay does not show: on a copy they are only read. L3 only. */
  readonly submounts: readonly string[];
  /** What may be written besides the workspace. */
  readonly writable: readonly string[];
  /** What stays visible below folders that L3 replaces by private ones. */
  readonly readable: readonly string[];
  /** Folders of the workspace with something in it that is hidden or only read: they must not be moved away with it. */
  readonly fixed: readonly string[];
  /** Below what may be written, and may only be read all the same. L3 only. */
  readonly readOnly: readonly string[];
  readonly hidden: readonly Hidden[];
  /** Writable folders whose new content is discarded after the command. L3 only. */
  readonly caches: readonly string[];
  /** Whether sockets of this machine (AF_UNIX) may be opened where the network may. */
  readonly unixSockets: boolean;
  /** The network and local services of the host; without it: nothing, in L3 a private loopback. */
  readonly network: boolean;
  /** Private folder for temporary files, where /tmp is everybody's. L2 only. */
  readonly temporary: string | null;
  /** Version of Landlock here; 0: there is none. */
  readonly landlock: number;
  /** Rules for what is outside the workspace, at L2 for one that is only read those inside too: see readableRules. Empty: all may be read. */
  readonly outside: readonly LandlockRule[];
  /** Who started the tape: it gives up when that is gone already. null: it cannot be seen from inside. */
  readonly parent: number | null;
}

export interface LandlockRule {
  readonly path: string;
  readonly isFolder: boolean;
  /** `list`: of folders only the names. */
  readonly rights: "list" | "read" | "write" | "device";
  /** When it is not there any more, the tape goes on without it: then it stays closed. */
  readonly mayBeGone?: boolean;
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

/** Whether the command has its own mounts, processes and network. */
export const isIsolated = (level: SandboxLevel): boolean => level === "L3" || level === "L3b";

/** Of this user, and at L3 of the command. */
export const maxProcesses = 8192;

/** Descriptors that the tape finds open. */
export const reportFd = 3;
export const workspaceFd = 4;
export const lifelineFd = 5;
/** The first descriptor that was not passed to it. */
export const firstFreeFd = 6;
