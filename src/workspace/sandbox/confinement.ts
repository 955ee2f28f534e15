/** The restrictions of one command, from which its tape is written. */
import type { SandboxLevel } from "../../core/command/sandbox.ts";

/**
 * How a command is confined. `namespaces`: by namespaces of its own, Landlock and seccomp. `bubblewrap`: the same, in
 * namespaces that bwrap has made. `landlock`: by Landlock and seccomp alone.
 */
export const ways = ["namespaces", "bubblewrap", "landlock"] as const;
export type Way = (typeof ways)[number];

/** What people call it. */
export const levelOf = (way: Way): SandboxLevel => (way === "landlock" ? "writes" : "full");

export interface Hidden {
  /** Absolute and real. */
  readonly path: string;
  readonly isFolder: boolean;
}

/** All paths are absolute and real. */
export interface Confinement {
  readonly way: Way;
  /** Path of the folder that `workspaceFd` refers to. */
  readonly workspace: string;
  /**
   * Whether Landlock allows writes below the workspace. Where it has mounts of its own, `readOnly` must say the same.
   */
  readonly workspaceRights: "read" | "write";
  readonly uid: number;
  readonly gid: number;
  /** Whether it makes a user namespace first: ordinary users must, root only where it may not make the others. */
  readonly userNamespace: boolean;
  /** Where changes below the workspace go; null: to the workspace itself. Own namespaces only. */
  readonly overlay: { readonly upper: string; readonly work: string } | null;
  /** Paths below the workspace that are written even where an overlay covers it (`.git` with --allow-write .git). */
  readonly throughOverlay: readonly string[];
  /** Mounts below the workspace, which an overlay does not show; on a copy they are read-only. Own namespaces only. */
  readonly submounts: readonly string[];
  /** Writable paths besides the workspace. */
  readonly writable: readonly string[];
  /** Paths that stay visible below folders that private ones replace. */
  readonly readable: readonly string[];
  /** Homes, which empty private folders replace; what is seen of them is among the paths above and `caches`. */
  readonly homes: readonly string[];
  /** Workspace folders that contain something hidden or read-only; commands must not move them away with it. */
  readonly fixed: readonly string[];
  /** Read-only paths below writable ones. Own namespaces only. */
  readonly readOnly: readonly string[];
  readonly hidden: readonly Hidden[];
  /** Writable folders whose new content is dropped after the command. Own namespaces only. */
  readonly caches: readonly string[];
  /** Whether local sockets (AF_UNIX) may be opened when the network may. */
  readonly unixSockets: boolean;
  /** Access to the network and local services of the host; without it none but a private loopback. */
  readonly network: boolean;
  /** Private folder for temporary files where /tmp is shared. Landlock alone only. */
  readonly temporary: string | null;
  /** Version of Landlock; 0: none. */
  readonly landlock: number;
  /**
   * Rules for paths outside the workspace; by Landlock alone with a read-only workspace also for those inside (see readableRules).
   * Empty: everything may be read.
   */
  readonly outside: readonly LandlockRule[];
  /** Process id of pai; the tape gives up if it has died. null: it cannot be seen from inside. */
  readonly parent: number | null;
}

export interface LandlockRule {
  readonly path: string;
  readonly isFolder: boolean;
  /** `list`: only the names in folders. */
  readonly rights: "list" | "read" | "write" | "device";
  /** The tape skips the rule if the path no longer exists; the path then stays closed. */
  readonly mayBeGone?: boolean;
}

export interface Program {
  /** Working folder; null: the workspace by its descriptor, where there are no own mounts. */
  readonly folder: string | null;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Writes both outputs to one pipe, in order. */
  readonly mergeOutput: boolean;
  /** Whether descriptor `lifelineFd` stays open in the program. */
  readonly keepLifeline: boolean;
}

/** Whether the command has its own mounts, processes and network. */
export const isIsolated = (way: Way): boolean => way !== "landlock";

/** Limit for this user, and in own namespaces for the command. */
export const maxProcesses = 8192;

/** Descriptors that are open when the tape starts. */
export const reportFd = 3;
export const workspaceFd = 4;
export const lifelineFd = 5;
/** The first descriptor that was not passed to the tape. */
export const firstFreeFd = 6;
