/** Every call that changes the disk: one list of effects, so that a test can let the disk fail or die at each of them. */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";

/** User and group id. */
export type Owner = readonly [uid: number, gid: number];

/** Paths are real ones: below `/proc/self/fd/N` for the workspace, absolute for pai's own state. All throw system errors. */
export interface Disk {
  /** A file that must not exist yet, synced, with exactly these permission bits. */
  createFile(path: string, bytes: Uint8Array, mode: number, owner: Owner | null): void;
  createLink(path: string, target: string, owner: Owner | null): void;
  /** A folder that must not exist yet. The group bit it inherits is kept. */
  createFolder(path: string, mode: number, owner: Owner | null): void;
  /** A second name for a file; never over an existing one. */
  addName(path: string, from: string): void;
  rename(path: string, from: string): void;
  removeFile(path: string): void;
  removeFolder(path: string): void;
  /** Makes what was created, renamed or removed in a folder last. */
  syncFolder(path: string): void;
  /** Adds to the end of a file of pai's own and syncs it; the file is made when missing. */
  append(path: string, bytes: Uint8Array): void;
  /** Removes a folder of pai's own with all it holds. */
  removeTree(path: string): void;
}

const create = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const extend =
  constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** `before` is told of each effect and may throw in its place. */
export function openDisk(before: (effect: string) => void = () => {}): Disk {
  const writeAll = (fd: number, bytes: Uint8Array): void => {
    let done = 0;
    while (done < bytes.length) {
      before("write");
      done += writeSync(fd, bytes, done, bytes.length - done);
    }
  };
  const withFile = (path: string, flags: number, use: (fd: number) => void): void => {
    const fd = openSync(path, flags, 0o600);
    try {
      use(fd);
      before("sync");
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  };

  return {
    createFile(path, bytes, mode, owner) {
      before("create file");
      withFile(path, create, (fd) => {
        writeAll(fd, bytes);
        before("own");
        if (owner) fchownSync(fd, ...owner);
        fchmodSync(fd, mode);
      });
    },
    createLink(path, target, owner) {
      before("create link");
      symlinkSync(target, path);
      if (owner) lchownSync(path, ...owner);
    },
    createFolder(path, mode, owner) {
      before("create folder");
      mkdirSync(path, 0o700);
      if (owner) lchownSync(path, ...owner);
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
    removeTree(path) {
      before("remove tree");
      rmSync(path, { recursive: true, force: true });
    },
  };
}
