/** How a folder is reached from another: openat2, a walk through /proc/self/fd, or paths that are only checked. */
import { closeSync, constants, fstatSync, openSync, readlinkSync, realpathSync } from "node:fs";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { Workspace } from "../../core/ports.ts";
import { joinPath, showName } from "../parse-path.ts";
import { enterFlags, openFolderAt } from "./open-at.ts";
import { loadOpenBelow, type OpenBelow } from "./openat2.ts";

export type Protection = Workspace["protection"];

/** A folder that was opened: `${at}/${name}` is a path in it. */
export interface Handle {
  readonly at: string;
  /** The open folder itself, for entering; null where there is only a name. */
  readonly fd: number | null;
  /** Throws conflict when the folder was replaced since it was opened, which is only possible where paths are merely checked. */
  check(): void;
  close(): void;
}

export interface Backend {
  readonly name: Protection;
  /** The root itself, given its descriptor, which stays open, and its real path. */
  top(fd: number, real: string): Handle;
  /**
   * A folder below another; null: missing. `path` is relative to `from`, `shown` is what messages call `from`.
   * Throws path_refused for links, file_unusable for what is not a folder.
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

/** Where the kernel refuses, the walk finds out at which folder and why. */
function openat2(openBelow: OpenBelow): Backend {
  return {
    ...fdWalk,
    name: "openat2",
    enter(from, path, shown) {
      const fd = from.fd === null ? -1 : openBelow(from.fd, path, enterFlags);
      return fd >= 0 ? handleOf(fd) : fdWalk.enter(from, path, shown);
    },
  };
}

/** Without /proc there is no name for an open folder: names are used, compared before and after. */
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

/** The strongest way that works here, tried out on /proc; `fd` is an open folder. Takes under a millisecond. */
export function chooseBackend(fd: number): Backend {
  if (!isWalkable(fd)) return checked;
  const openBelow = loadOpenBelow();
  return openBelow !== null && keepsBelow(openBelow, fd) ? openat2(openBelow) : fdWalk;
}

/** A certain way, whether or not a better one would work. Throws internal when it does not work here. */
export function forceBackend(name: Protection): Backend {
  if (name === "checked") return checked;
  if (name === "fd-walk") return fdWalk;
  const openBelow = loadOpenBelow();
  if (openBelow === null) throw new PaiError("internal", "openat2 does not work here");
  return openat2(openBelow);
}

/** Whether an open folder can be entered through its descriptor, and a link in a folder cannot. */
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

/** One good open, and one refusal each of a link, of a way through /proc to another root, and of a step upwards. */
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

/** Without O_NOFOLLOW, so that only the rules of openat2 can refuse. */
const pathFlags = enterFlags & ~constants.O_NOFOLLOW;

function isRefused(fd: number): boolean {
  if (fd < 0) return true;
  closeSync(fd);
  return false;
}
