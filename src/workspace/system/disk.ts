/** All calls that change the disk in one interface, so that a test can make each of them fail. */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { createFile, writeBytes } from "../../system/write-file.ts";
import { type Traits, writeTraits } from "../traits.ts";
import { systemCalls } from "./system-calls.ts";

/**
 * Paths are real: below `/proc/self/fd/N` for the workspace, absolute for pai's state. All methods throw system errors.
 */
export interface Disk {
  /** Creates a private file of pai's own; it must not exist yet and need not survive a power cut. */
  createClaim(path: string, bytes: Uint8Array): void;
  /**
   * Creates and syncs a new file with exactly these permission bits and this modification time, in seconds since 1970.
   */
  createFile(path: string, bytes: Uint8Array, mode: number, traits: Traits | null, time: number): void;
  /** Replaces and syncs the bytes of an existing file, byte by byte; `mode` null: its permission bits stay. */
  overwriteFile(path: string, bytes: Uint8Array, mode: number | null, time: number): void;
  createLink(path: string, target: string, traits: Traits | null): void;
  /** Creates a new folder. The set-group-ID bit that it inherits is kept. */
  createFolder(path: string, mode: number, traits: Traits | null): void;
  /** Creates a hard link; never replaces a file. */
  addName(path: string, from: string): void;
  rename(path: string, from: string): void;
  /** Renames to a free name; throws EEXIST if it is taken. False: this file system cannot rename without replacing. */
  renameNew(path: string, from: string): boolean;
  /** Swaps two names atomically. False: not possible here. */
  exchange(path: string, other: string): boolean;
  removeFile(path: string): void;
  removeFolder(path: string): void;
  /** Makes creations, renames and removals in a folder durable. */
  syncFolder(path: string): void;
  /** Appends to a file of pai's own, which is created if missing. */
  append(path: string, bytes: Uint8Array): void;
  /** Makes appended bytes durable. */
  syncFile(path: string): void;
  /** Removes a folder of pai's own with all content. */
  removeTree(path: string): void;
  /** The same disk without the sync of each file; the caller calls `syncAll` later. null: not possible here. */
  readonly unsynced: Disk | null;
  /** Makes all changes on the disk of this folder durable. */
  syncAll(path: string): void;
}

const extend =
  constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** `before` is called with the name of each effect and may throw instead of it. */
export function openDisk(before: (effect: string) => void = () => {}, syncs = true): Disk {
  const writeAll = (fd: number, bytes: Uint8Array): void => {
    before("write");
    writeBytes(fd, bytes);
  };
  const withFile = (path: string, flags: number, use: (fd: number) => void): void => {
    const fd = openSync(path, flags, 0o600);
    try {
      use(fd);
    } finally {
      closeSync(fd);
    }
  };
  const sync = (fd: number): void => {
    if (!syncs) return;
    before("sync");
    fsyncSync(fd);
  };
  let unsynced: Disk | null | undefined;

  const setTraits = (path: string, traits: Traits): void => {
    before("set traits");
    writeTraits(path, traits);
  };

  return placeErrors({
    createFile(path, bytes, mode, traits, time) {
      before("create file");
      // Traits come before the bytes, so that a complete file has them.
      const opened = () => traits && setTraits(path, traits);
      createFile(path, bytes, { mode, time, lasting: syncs, opened, before });
    },
    overwriteFile(path, bytes, mode, time) {
      before("overwrite file");
      withFile(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK, (fd) => {
        writeAll(fd, bytes);
        ftruncateSync(fd, bytes.length);
        if (mode !== null) fchmodSync(fd, mode);
        futimesSync(fd, time, time);
        fsyncSync(fd);
      });
    },
    createLink(path, target, traits) {
      before("create link");
      symlinkSync(target, path);
      if (traits) setTraits(path, traits);
    },
    createFolder(path, mode, traits) {
      before("create folder");
      mkdirSync(path, 0o700);
      if (traits) setTraits(path, traits);
      chmodSync(path, mode | (lstatSync(path).mode & 0o2000));
    },
    addName(path, from) {
      before("add name");
      linkSync(from, path);
    },
    rename(path, from) {
      before("rename");
      renameSync(from, path);
    },
    renameNew(path, from) {
      before("rename new");
      return systemCalls()?.renameNew(path, from) === true || linkNew(path, from);
    },
    exchange(path, other) {
      before("exchange");
      return systemCalls()?.exchange(path, other) ?? false;
    },
    removeFile(path) {
      before("remove file");
      unlinkSync(path);
    },
    removeFolder(path) {
      before("remove folder");
      rmdirSync(path);
    },
    syncFolder(path) {
      before("sync folder");
      const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
      try {
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
    },
    append(path, bytes) {
      before("append");
      withFile(path, extend, (fd) => writeAll(fd, bytes));
    },
    createClaim(path, bytes) {
      before("create claim");
      createFile(path, bytes, { mode: 0o600, lasting: false, before });
    },
    syncFile(path) {
      withFile(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK, sync);
    },
    removeTree(path) {
      before("remove tree");
      rmSync(path, { recursive: true, force: true });
    },
    get unsynced() {
      unsynced ??= systemCalls() === null ? null : openDisk(before, false);
      return unsynced;
    },
    syncAll(path) {
      before("sync all");
      const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
      try {
        systemCalls()?.syncDisk(fd);
      } finally {
        closeSync(fd);
      }
    },
  });
}

/** The real path of something below a pinned folder; the path itself if that is unknown. */
function realName(path: string): string {
  const [, folder = "", rest = ""] = /^(\/proc\/self\/fd\/\d+)(.*)$/s.exec(path) ?? [];
  try {
    return folder === "" ? path : readlinkSync(folder) + rest;
  } catch {
    return path;
  }
}

/** The same disk with paths in its errors: those of write and fsync lack them. */
function placeErrors(disk: Disk): Disk {
  const placed = <A extends readonly unknown[], R>(effect: (path: string, ...rest: A) => R) => {
    return (path: string, ...rest: A): R => {
      try {
        return effect(path, ...rest);
      } catch (thrown) {
        if (thrown instanceof Error && "code" in thrown) Object.assign(thrown, { path: realName(path) });
        throw thrown;
      }
    };
  };
  return {
    createFile: placed(disk.createFile),
    overwriteFile: placed(disk.overwriteFile),
    createLink: placed(disk.createLink),
    createFolder: placed(disk.createFolder),
    addName: placed(disk.addName),
    rename: placed(disk.rename),
    renameNew: placed(disk.renameNew),
    exchange: placed(disk.exchange),
    removeFile: placed(disk.removeFile),
    removeFolder: placed(disk.removeFolder),
    syncFolder: placed(disk.syncFolder),
    append: placed(disk.append),
    createClaim: placed(disk.createClaim),
    syncFile: placed(disk.syncFile),
    removeTree: placed(disk.removeTree),
    get unsynced() {
      return disk.unsynced;
    },
    syncAll: placed(disk.syncAll),
  };
}

/** A hard link never replaces a file either, but not every file system has them. */
function linkNew(path: string, from: string): boolean {
  try {
    linkSync(from, path);
  } catch (thrown) {
    const errno = (thrown as NodeJS.ErrnoException).code ?? "";
    if (["EPERM", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EISDIR"].includes(errno)) return false;
    throw thrown;
  }
  unlinkSync(from);
  return true;
}
