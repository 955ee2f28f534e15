/** Ways to enter a folder from another: openat2, a walk through /proc/self/fd, or paths that are only checked. */
import { closeSync, constants, fstatSync, openSync, readlinkSync, realpathSync } from "node:fs";
import { constants as system } from "node:os";
import { PaiError } from "../../core/error.ts";
import { joinPath, type RelPath } from "../../core/path.ts";
import type { Workspace } from "../../core/ports.ts";
import { showName } from "../parse-path.ts";
import { enterFlags, openFolderAt } from "./open-at.ts";
import { loadOpenBelow, type OpenBelow } from "./openat2.ts";

export type Protection = Workspace["protection"];

/** An open folder: `${at}/${name}` is a path in it. */
export interface Handle {
  readonly at: string;
  /** Descriptor of the folder; null where there is only a path. */
  readonly fd: number | null;
  /** Throws conflict when the folder was replaced since it was opened, which can happen only with backend `checked`. */
  check(): void;
  close(): void;
}

export interface Backend {
  readonly name: Protection;
  /** The root, given its descriptor, which stays open, and its real path. */
  top(fd: number, real: string): Handle;
  /**
   * A folder below another; null: missing. `path` is relative to `from`; `shown` is the name of `from` in messages.
   * Throws path_refused for a link, file_unusable for what is not a folder.
   */
  enter(from: Handle, path: RelPath, shown: RelPath): Handle | null;
}

const through = "/proc/self/fd/";

function handleOf(fd: number): Handle {
  return { at: through + fd, fd, check() {}, close: () => closeSync(fd) };
}

const fdWalk: Backend = {
  name: "fd-walk",
  top: (fd) => ({ ...handleOf(fd), close() {} }),
  enter(from, path, shown) {
    let handle: Handle | null = null;
    let done = shown;
    try {
      for (const part of path.split("/")) {
        done = joinPath(done, part);
        const fd = openFolderAt((handle ?? from).at, part, done);
        handle?.close();
        handle = fd === null ? null : handleOf(fd);
        if (handle === null) return null;
      }
      return handle;
    } catch (thrown) {
      handle?.close();
      throw thrown;
    }
  },
};

/** If the kernel refuses, the walk finds out at which folder and why. */
function openat2(openBelow: OpenBelow): Backend {
  return {
    ...fdWalk,
    name: "openat2",
    enter(from, path, shown) {
      const fd = from.fd === null ? -1 : openBelow(from.fd, path, enterFlags);
      if (fd >= 0) return handleOf(fd);
      return fd === -system.errno.ENOENT ? null : fdWalk.enter(from, path, shown);
    },
  };
}

/** Without /proc an open folder has no path, so real paths are used and compared before and after. */
const checked: Backend = {
  name: "checked",
  top: (fd, real) => checkedHandle(real, fstatSync(fd, { bigint: true }), "" as RelPath),
  enter(from, path, shown) {
    from.check();
    let reached: Handle | null = null;
    let done = shown;
    for (const part of path.split("/")) {
      const { at } = reached ?? from;
      done = joinPath(done, part);
      const fd = openFolderAt(at, part, done);
      if (fd === null) return null;
      reached = checkedHandle(`${at}/${part}`, identify(fd), done);
    }
    reached?.check();
    return reached;
  },
};

interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Closes the descriptor. */
function identify(fd: number): Identity {
  try {
    return fstatSync(fd, { bigint: true });
  } finally {
    closeSync(fd);
  }
}

function isSame(a: Identity, b: Identity): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

function checkedHandle(at: string, identity: Identity, path: RelPath): Handle {
  return {
    at,
    fd: null,
    check() {
      const fd = openFolderAt(at, ".", path);
      if (fd !== null && isSame(identify(fd), identity) && realpathSync(at) === at) return;
      throw new PaiError("conflict", `${showName(path) || "the root"} was replaced by somebody else meanwhile`);
    },
    close() {},
  };
}

/** The strongest backend that works here, tested on /proc; `fd` is an open folder. Takes less than a millisecond. */
export function chooseBackend(fd: number): Backend {
  if (!isWalkable(fd)) return checked;
  const openBelow = loadOpenBelow();
  return openBelow !== null && keepsBelow(openBelow, fd) ? openat2(openBelow) : fdWalk;
}

/** A given backend, even if a stronger one would work. Throws internal when it does not work here. */
export function forceBackend(name: Protection): Backend {
  if (name === "checked") return checked;
  if (name === "fd-walk") return fdWalk;
  const openBelow = loadOpenBelow();
  if (openBelow === null) throw new PaiError("internal", "openat2 does not work here");
  return openat2(openBelow);
}

/** Whether /proc/self/fd leads into an open folder and O_NOFOLLOW refuses a link. */
function isWalkable(fd: number): boolean {
  try {
    const here = identify(openSync(`${through}${fd}/.`, enterFlags));
    if (!isSame(here, fstatSync(fd, { bigint: true }))) return false;
  } catch {
    return false;
  }
  try {
    closeSync(openSync("/proc/self", enterFlags));
    return false;
  } catch {
    return readlinkSync(through + fd) !== "";
  }
}

/** Opens one folder; a link, a path through /proc to another root, and a step upwards must be refused. */
function keepsBelow(openBelow: OpenBelow, fd: number): boolean {
  const here = openBelow(fd, ".", enterFlags);
  if (here < 0 || !isSame(identify(here), fstatSync(fd, { bigint: true }))) return false;
  const proc = openSync("/proc", constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return ["self", `${process.pid}/root`, "../.."].every((path) => isRefused(openBelow(proc, path, pathFlags)));
  } finally {
    closeSync(proc);
  }
}

/** Without O_NOFOLLOW, so that only openat2's own rules can refuse. */
const pathFlags = enterFlags & ~constants.O_NOFOLLOW;

function isRefused(fd: number): boolean {
  if (fd < 0) return true;
  closeSync(fd);
  return false;
}
