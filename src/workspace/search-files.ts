/** Reads the files of a search, many of one folder at a time, with as few system calls as can be. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { RelPath } from "../core/path.ts";
import type { Root } from "./confine.ts";
import { lookFlags } from "./open-at.ts";
import { joinPath } from "./parse.ts";
import { refuseUnlessFile, toStat } from "./stat.ts";

/** Files of one folder, in order; or one staged file with its content. */
export type Bunch =
  | { readonly folder: RelPath; readonly names: string[] }
  | { readonly path: RelPath; readonly content: Uint8Array };

export interface SearchedFile {
  readonly path: RelPath;
  /** Good until the next file is read; null: too large, or it cannot be read. */
  readonly content: Uint8Array | null;
  /** Whether what was read may be told: a regular file, and none of pai's own. */
  verify(): boolean;
}

const maxFileBytes = 8 * 1024 * 1024;
const firstBytes = 256 * 1024;

/** The result reads a bunch and shows each file of it once. */
export function openReader(root: Root): (bunch: Bunch, look: (file: SearchedFile) => void) => void {
  let buffer = Buffer.allocUnsafeSlow(firstBytes);
  /** null: larger than the limit. */
  const fill = (fd: number): Uint8Array | null => {
    let length = readSync(fd, buffer, 0, buffer.length, null);
    while (length === buffer.length) {
      if (length > maxFileBytes) return null;
      const wider = Buffer.allocUnsafeSlow(Math.min(length * 8, maxFileBytes + 1));
      wider.set(buffer);
      buffer = wider;
      length += readSync(fd, buffer, length, buffer.length - length, null);
    }
    return buffer.subarray(0, length);
  };
  const readOne = (at: string, name: string, path: RelPath, look: (file: SearchedFile) => void): void => {
    const fd = openSync(`${at}/${name}`, lookFlags);
    try {
      look({ path, content: fill(fd), verify: () => mayTell(root, fd, path) });
    } finally {
      closeSync(fd);
    }
  };
  return (bunch, look) => {
    if ("content" in bunch) return look({ ...bunch, verify: () => true });
    const handle = openFolder(root, bunch.folder);
    for (const name of bunch.names) {
      const path = joinPath(bunch.folder, name);
      try {
        if (handle === null) throw new Error("the folder is gone");
        readOne(handle.at, name, path, look);
      } catch {
        look({ path, content: null, verify: () => false });
      }
    }
    handle?.close();
  };
}

function openFolder(root: Root, folder: RelPath) {
  try {
    return root.open(folder);
  } catch {
    return null;
  }
}

function mayTell(root: Root, fd: number, path: RelPath): boolean {
  try {
    const stat = toStat(fstatSync(fd, { bigint: true }), null);
    refuseUnlessFile(stat, path);
    root.refuseOwn(stat, path);
    return true;
  } catch {
    return false;
  }
}
