/** The calls that change files of the project, so that a test can make each of them fail. */

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
import { orNull, unless } from "../../core/error.ts";
import { createFile, writeBytes } from "../../system/write-file.ts";
import { type Traits, writeTraits } from "../traits.ts";
import { systemCalls } from "./system-calls.ts";

export type Disk = ReturnType<typeof openDisk>;

const change = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const extend = change | constants.O_CREAT | constants.O_APPEND;
const folder = constants.O_RDONLY | constants.O_DIRECTORY;

/** Only its owner gives a file a time; for others it has that of the write. */
const setTime = (fd: number, time: number): void => unless(["EPERM"], () => futimesSync(fd, time, time));

/**
 * Paths are real. All methods throw system errors. `before` is called with the name of each effect and may throw instead
 * of it.
 */
export function openDisk(before: (effect: string) => void = () => {}) {
  const withFile = (path: string, flags: number, use: (fd: number) => void): void => {
    const fd = openSync(path, flags, 0o600);
    try {
      use(fd);
    } finally {
      closeSync(fd);
    }
  };
  const write = (fd: number, bytes: Uint8Array): void => {
    before("write");
    writeBytes(fd, bytes);
  };
  const setTraits = (path: string, traits: Traits | null): void => {
    if (traits === null) return;
    before("set traits");
    writeTraits(path, traits);
  };
  const effects = {
    /** A new private file of pai's own, which need not survive a power cut. */
    createClaim(path: string, bytes: Uint8Array): void {
      createFile(path, bytes, { mode: 0o600, lasting: false, before });
    },
    /** Syncs a new file. `time`: of its modification, in seconds since 1970. */
    createFile(path: string, bytes: Uint8Array, mode: number, traits: Traits | null, time: number): void {
      // Traits come before the bytes, so that a complete file has them.
      createFile(path, bytes, { mode, time, lasting: true, opened: () => setTraits(path, traits), before });
    },
    /** Syncs the new bytes of an existing file; `mode` null: its bits stay. */
    overwriteFile(path: string, bytes: Uint8Array, mode: number | null, time: number): void {
      withFile(path, change, (fd) => {
        write(fd, bytes);
        ftruncateSync(fd, bytes.length);
        if (mode !== null) fchmodSync(fd, mode);
        setTime(fd, time);
        fsyncSync(fd);
      });
    },
    createLink(path: string, target: string, traits: Traits | null): void {
      symlinkSync(target, path);
      setTraits(path, traits);
    },
    /** The set-group-ID bit that it inherits is kept. */
    createFolder(path: string, mode: number, traits: Traits | null): void {
      mkdirSync(path, 0o700);
      setTraits(path, traits);
      chmodSync(path, mode | (lstatSync(path).mode & 0o2000));
    },
    rename: (path: string, from: string): void => renameSync(from, path),
    /** Throws EEXIST if `path` is taken. False: this file system cannot rename without replacing. */
    renameNew: (path: string, from: string): boolean =>
      systemCalls()?.renameNew(path, from) === true || linkNew(path, from),
    /** False: not possible here. */
    exchange: (path: string, other: string): boolean => systemCalls()?.exchange(path, other) ?? false,
    removeFile: (path: string): void => unlinkSync(path),
    removeFolder: (path: string): void => rmdirSync(path),
    syncFolder: (path: string): void => withFile(path, folder, fsyncSync),
    /** A file of pai's own, which is created if missing. */
    append: (path: string, bytes: Uint8Array): void => withFile(path, extend, (fd) => write(fd, bytes)),
    syncFile: (path: string): void => withFile(path, change, fsyncSync),
    /** A folder of pai's own. */
    removeTree: (path: string): void => rmSync(path, { recursive: true, force: true }),
  };
  return placeErrors(effects, before);
}

function realName(path: string): string {
  const [, folder = "", rest = ""] = /^(\/proc\/self\/fd\/\d+)(.*)$/s.exec(path) ?? [];
  const real = folder === "" ? null : orNull(() => readlinkSync(folder));
  return real === null ? path : real + rest;
}

/** Names each effect to `before` ("create file"), and adds paths to errors: those of write and fsync lack them. */
function placeErrors<T extends object>(effects: T, before: (effect: string) => void): T {
  const placed = Object.entries(effects).map(([name, effect]) => [
    name,
    (path: string, ...rest: readonly unknown[]) => {
      try {
        before(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
        return effect(path, ...rest);
      } catch (thrown) {
        if (thrown instanceof Error && "code" in thrown) Object.assign(thrown, { path: realName(path) });
        throw thrown;
      }
    },
  ]);
  return Object.fromEntries(placed) as T;
}

/** A hard link never replaces a file either, but not every file system has them. */
function linkNew(path: string, from: string): boolean {
  const link = (): true => {
    linkSync(from, path);
    unlinkSync(from);
    return true;
  };
  return unless(["EPERM", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EISDIR"], link) ?? false;
}
