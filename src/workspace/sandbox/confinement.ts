/** The restrictions of one command, from which its tape is written. */
import type { SandboxLevel } from "../../core/command/sandbox.ts";

/** `bubblewrap`: in namespaces that bwrap has made. `landlock`: by Landlock and seccomp alone. */
export const ways = ["namespaces", "bubblewrap", "landlock"] as const;
export type Way = (typeof ways)[number];

export const levelOf = (way: Way): SandboxLevel => (way === "landlock" ? "writes" : "full");

export interface Hidden {
  readonly path: string;
  readonly isFolder: boolean;
}

/** All paths are absolute and real. */
export interface Confinement {
  readonly way: Way;
  readonly workspace: string;
  /** Of Landlock. With mounts of its own `readOnly` must say the same. */
  readonly workspaceRights: "read" | "write";
  /** Ordinary users make one first, root only where it may not make the others. */
  readonly userNamespace: boolean;
  /** null: changes go to the workspace itself. Own namespaces only. */
  readonly overlay: { readonly upper: string; readonly work: string } | null;
  /** Written even where an overlay covers them (`.git` with --allow-write .git). */
  readonly throughOverlay: readonly string[];
  /** Mounts below the workspace, which an overlay does not show; on a copy they are read-only. */
  readonly submounts: readonly string[];
  readonly writable: readonly string[];
  /** Visible below folders that private ones replace. */
  readonly readable: readonly string[];
  /** Replaced by empty private folders; what is seen of them is among the paths above and `caches`. */
  readonly homes: readonly string[];
  /** Workspace folders with something hidden or read-only in them; commands must not move them away with it. */
  readonly fixed: readonly string[];
  readonly readOnly: readonly string[];
  readonly hidden: readonly Hidden[];
  /** Writable; new content is dropped after the command. */
  readonly caches: readonly string[];
  /** Local sockets (AF_UNIX) may be opened where the network may. */
  readonly unixSockets: boolean;
  /** Of the host, with its local services; otherwise none but a private loopback. */
  readonly network: boolean;
  /** For temporary files where /tmp is shared. */
  readonly temporary: string | null;
  /** Version of Landlock; 0: none. */
  readonly landlock: number;
  /** Outside the workspace; if that is read-only by Landlock alone, inside too. Empty: everything is read. */
  readonly outside: readonly LandlockRule[];
  /** Bubblewrap starts the tape as a file. */
  readonly asFile: boolean;
}

export interface LandlockRule {
  readonly path: string;
  readonly isFolder: boolean;
  /** `list`: the names in folders. */
  readonly rights: "list" | "read" | "write" | "device";
  /** Skipped if the path no longer exists; it then stays closed. */
  readonly mayBeGone?: boolean;
}

export const isIsolated = (way: Way): boolean => way !== "landlock";

export const maxProcesses = 8192;

export const reportFd = 3;
export const workspaceFd = 4;
export const lifelineFd = 5;
/** The first that was not passed to the tape. */
export const firstFreeFd = 6;
/** Of the tape in a program that starts it. */
export const tapeFd = 6;
