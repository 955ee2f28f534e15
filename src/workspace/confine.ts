/** Access to the user's files: a pinned root, and folders below it that are reached without following a link. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from "node:fs";
import type { PathRules } from "../core/closed-names.ts";
import { orNull, PaiError } from "../core/error.ts";
import { joinPath, nameOf, parentOf, pathWithin, type RelPath } from "../core/path.ts";
import { openOwnFiles, realFolders } from "./own-files.ts";
import { showName } from "./parse-path.ts";
import { judgeRoot } from "./path-policy.ts";
import { enterFlags, type OpenFile, openFileAt, openFolderAt, openFoundAt, readWholeAt } from "./system/open-at.ts";
import { isMissing, type Stat, statAt, toStat } from "./system/stat.ts";

/** Methods throw path_refused for a link on the way, file_unusable for a file, code 14 for what the system refuses. */
export interface Root {
  readonly lent: LentRoot;
  readonly pinned: Pinned;
  /** For display; it must never be opened. */
  readonly path: string;
  topOf(path: RelPath): RelPath;
  /** Links are not followed; null: missing. */
  stat(path: RelPath): Stat | null;
  statOrNull(path: RelPath): Stat | null;
  /**
   * Calls `use` with a folder such that `${at}/${name}` is the object; null: a parent is missing. `at` is valid only
   * until `use` returns, which must not follow `name` if that is a link.
   */
  withParent<T>(path: RelPath, use: (at: string, name: string) => T): T | null;
  /** The same for a folder itself; null: missing. */
  withFolder<T>(path: RelPath, use: (at: string) => T): T | null;
  /** null: missing. */
  open(folder: RelPath): Handle | null;
  /** A child of an open folder, so that depth costs nothing. */
  openBelow(above: Handle, folder: RelPath): Handle | null;
  /** Throws path_refused for a second name of pai's own or a denied file. */
  refuseOwn(stat: Stat, path: RelPath): void;
  /** The caller must close it; null: missing. Throws file_unusable for anything but a regular file. */
  openFile(path: RelPath): OpenFile | null;
  /** A whole regular file of at most `limit` bytes; null: missing. Throws file_unusable. */
  readBytes(path: RelPath, limit: number): ReadFile | null;
  /** Like `readBytes` for what was just seen to be a regular file in an open folder. */
  readIn(folder: Handle, path: RelPath, limit: number): ReadFile | null;
  close(): void;
}

export interface ReadFile {
  readonly bytes: Uint8Array;
  readonly stat: Stat;
}

/** A root as plain data, for another thread; valid until its owner closes it. */
export interface LentRoot {
  readonly fd: number;
  readonly path: string;
  readonly own: readonly string[];
  readonly rules: PathRules;
  /** Folders outside the project that absolute paths reach. */
  readonly others?: readonly LentRoot[];
}

export interface RootOptions {
  readonly force: boolean;
  readonly home: string | null;
  /** pai's own folders: none of their files is read under another name, and none of them may be a root. */
  readonly own?: readonly string[];
  /** Denied names; such files are not read under another name either. */
  readonly rules?: PathRules;
}

/**
 * Pins the root: a later rename does not change it. `others`: places that absolute paths reach; they may become more,
 * and are closed with it. Throws root_refused for what is not a folder and, unless `force`, for `/`, the home and
 * system folders.
 */
export function openRoot(path: string, options: RootOptions, others: readonly Root[] = []): Root {
  const fd = openRootFolder(path);
  const real = realPathOf(fd, path);
  const why = whyRefused(real, options);
  if (why !== null) {
    closeSync(fd);
    const hint = "start in the folder of a project, or pass --force-root";
    throw new PaiError("root_refused", `${showName(real)} ${why}`, { hint });
  }
  const { own = [], rules = { allow: [], deny: [] } } = options;
  return rootOf(pin({ fd, path: real, own, rules }), others);
}

export const borrowRoot = (lent: LentRoot): Root => rootOf(pin(lent), (lent.others ?? []).map(borrowRoot));

type Pinned = ReturnType<typeof pin>;

function pin(lent: LentRoot) {
  const top: Handle = { ...handleOf(lent.fd), close() {} };
  return { ...lent, top, refuseOwn: openOwnFiles(lent.own, lent.rules, () => top.at) };
}

const openIn = ({ top }: Pinned, folder: RelPath): Handle | null =>
  folder === "" ? top : enterFolder(top, folder, "" as RelPath);

function useFolder<T>(pinned: Pinned, folder: RelPath, use: (at: string) => T): T | null {
  const handle = openIn(pinned, folder);
  if (handle === null) return null;
  try {
    return use(handle.at);
  } finally {
    handle.close();
  }
}

function useParent<T>(pinned: Pinned, target: RelPath, use: (at: string, name: string) => T): T | null {
  if (target === "") throw new PaiError("path_refused", "that is the root itself");
  return useFolder(pinned, parentOf(target), (folder) => use(folder, nameOf(target)));
}

const statIn = (pinned: Pinned, target: RelPath): Stat | null =>
  target === ""
    ? toStat(fstatSync(pinned.fd, { bigint: true }), null)
    : useParent(pinned, target, (folder, name) => statAt(folder, name, target));

function allowed({ refuseOwn }: Pinned, file: OpenFile | null, target: RelPath): OpenFile | null {
  if (file === null) return null;
  try {
    refuseOwn(file.stat, target);
    return file;
  } catch (thrown) {
    closeSync(file.fd);
    throw thrown;
  }
}

const openFileIn = (pinned: Pinned, target: RelPath): OpenFile | null =>
  allowed(
    pinned,
    useParent(pinned, target, (folder, name) => openFileAt(folder, name, target)),
    target,
  );

function readOpen(file: OpenFile | null, target: RelPath, limit: number): ReadFile | null {
  if (file === null) return null;
  try {
    return { bytes: readWholeAt(file, limit, target), stat: file.stat };
  } finally {
    closeSync(file.fd);
  }
}

function rootOf(main: Pinned, others: readonly Root[]): Root {
  const at = (path: RelPath): readonly [Pinned, RelPath] => {
    if (!path.startsWith("/")) return [main, path];
    for (const { pinned } of others) {
      const within = pathWithin(path, pinned.path);
      if (within !== null) return [pinned, within as RelPath];
    }
    throw new PaiError("path_refused", `${showName(path)} is outside the project`);
  };
  return {
    path: main.path,
    pinned: main,
    get lent(): LentRoot {
      const { fd, path, own, rules } = main;
      return { fd, path, own, rules, others: others.map(({ lent }) => lent) };
    },
    topOf: (path) => (path.startsWith("/") ? at(path)[0].path : "") as RelPath,
    stat: (path) => statIn(...at(path)),
    statOrNull: (path) => orNull(() => statIn(...at(path))),
    withParent: (path, use) => useParent(...at(path), use),
    withFolder: (path, use) => useFolder(...at(path), use),
    open: (path) => openIn(...at(path)),
    openBelow(above, path) {
      const [, within] = at(path);
      return enterFolder(above, nameOf(within) as RelPath, parentOf(within));
    },
    refuseOwn(stat, path) {
      const [pinned, within] = at(path);
      pinned.refuseOwn(stat, within);
    },
    openFile: (path) => openFileIn(...at(path)),
    readBytes(path, limit) {
      const [pinned, within] = at(path);
      return readOpen(openFileIn(pinned, within), within, limit);
    },
    readIn(folder, path, limit) {
      const [pinned, within] = at(path);
      return readOpen(allowed(pinned, openFoundAt(folder.at, nameOf(within), within), within), within, limit);
    },
    close() {
      closeSync(main.fd);
      for (const root of others) root.close();
    },
  };
}

function openRootFolder(path: string): number {
  try {
    return openSync(path, enterFlags & ~constants.O_NOFOLLOW);
  } catch (thrown) {
    const missing = isMissing(thrown) && lstatSync(path, { throwIfNoEntry: false }) === undefined;
    const why = missing ? "does not exist" : "cannot be opened as a folder";
    const hint = "start in the folder of a project";
    throw new PaiError("root_refused", `${showName(path)} ${why}`, { hint, cause: thrown });
  }
}

/** Throws root_refused without /proc, through which folders are entered. */
function realPathOf(fd: number, path: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch (cause) {
    closeSync(fd);
    const hint = "mount it: mount -t proc proc /proc";
    throw new PaiError("root_refused", `${showName(path)} cannot be entered without /proc`, { hint, cause });
  }
}

function whyRefused(real: string, { force, home, own = [] }: RootOptions): string | null {
  if (realFolders(own).some((folder) => real === folder || real.startsWith(`${folder}/`)))
    return "belongs to pai itself";
  return force ? null : judgeRoot(real, home === null ? null : (realFolders([home])[0] ?? home));
}

/** An open folder: `${at}/${name}` is a path in it, whatever its own path leads to by now. */
export interface Handle {
  readonly at: string;
  close(): void;
}

const handleOf = (fd: number): Handle => ({ at: `/proc/self/fd/${fd}`, close: () => closeSync(fd) });

/** null: missing. `shown`: the name of `from`. Throws path_refused for a link, file_unusable for no folder. */
function enterFolder(from: Handle, path: RelPath, shown: RelPath): Handle | null {
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
}
