/** Reads the files of a search, many of one folder at a time. */

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { orNull } from "../../core/error.ts";
import { joinPath, nameOf, parentOf, type RelPath } from "../../core/path.ts";
import type { Handle, Root } from "../confine.ts";
import { lookFlags } from "../system/open-at.ts";
import { refuseUnlessFile, toStat } from "../system/stat.ts";

/** Files of one folder in order, or one staged file with its content. */
export type Bunch = { readonly folder: RelPath; readonly names: string[] } | StagedFile;

export interface StagedFile {
  readonly path: RelPath;
  readonly content: Uint8Array;
  /** A part of a large file, whose lines are to be counted. */
  readonly isWindow?: true;
}

export function addTo(batch: Bunch[], file: RelPath | StagedFile): void {
  if (typeof file !== "string") return void batch.push(file);
  const [last, folder, name] = [batch.at(-1), parentOf(file), nameOf(file)];
  if (last !== undefined && "names" in last && last.folder === folder) last.names.push(name);
  else batch.push({ folder, names: [name] });
}

export interface SearchedFile {
  readonly path: RelPath;
  /** Valid until the next file is read; null: too large or unreadable. */
  readonly content: Uint8Array | null;
  readonly isLarge: boolean;
  readonly isWindow?: true;
  /** Whether the content may be shown: it must be a regular file that is not denied. */
  verify(): boolean;
}

const maxFileBytes = 8 * 1024 * 1024;
const firstBytes = 256 * 1024;

/** Returns a function that reads a bunch and passes on each file; `limit`: largest file in bytes. */
export function openReader(root: Root, limit = maxFileBytes) {
  let buffer = Buffer.allocUnsafeSlow(firstBytes);
  const fill = (fd: number): Uint8Array | "large" | null => {
    try {
      let length = readSync(fd, buffer);
      if (length === buffer.length && fstatSync(fd).size > limit) return "large";
      while (length === buffer.length && length <= limit) {
        const wider = Buffer.allocUnsafeSlow(Math.min(length * 8, limit + 1));
        wider.set(buffer);
        buffer = wider;
        length += readSync(fd, buffer, length, buffer.length - length, null);
      }
      return length > limit ? "large" : buffer.subarray(0, length);
    } catch {
      return null;
    }
  };
  const readOne = (folder: Handle | null, name: string, path: RelPath, look: (file: SearchedFile) => void): void => {
    // null: it cannot be opened, or is a link.
    const fd = folder && orNull(() => openSync(`${folder.at}/${name}`, lookFlags));
    const filled = fd === null ? null : fill(fd);
    const isLarge = filled === "large";
    look({ path, content: isLarge ? null : filled, isLarge, verify: () => fd !== null && mayTell(root, fd, path) });
    if (fd !== null) closeSync(fd);
  };
  return (bunch: Bunch, look: (file: SearchedFile) => void) => {
    if ("content" in bunch) return look({ ...bunch, isLarge: false, verify: () => true });
    const folder = orNull(() => root.open(bunch.folder));
    for (const name of bunch.names) readOne(folder, name, joinPath(bunch.folder, name), look);
    folder?.close();
  };
}

function mayTell(root: Root, fd: number, path: RelPath): boolean {
  const judge = (): void => {
    const stat = toStat(fstatSync(fd, { bigint: true }), null);
    refuseUnlessFile(stat, path);
    root.refuseOwn(stat, path);
  };
  return orNull(judge) !== null;
}
