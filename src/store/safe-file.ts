/** Small private files of the user: checked before they are read, and replaced atomically. */

import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { spellForShell } from "../core/command/quote.ts";
import { PaiError, unless } from "../core/error.ts";
import { isOfSystem } from "../system/judge-folder.ts";
import { hintOfHeld, takeLock } from "../system/lock.ts";
import { entriesOf, entryAt } from "../system/lookups.ts";
import { replaceFile, writeBytes } from "../system/write-file.ts";

const maxBytes = 4 * 1024 * 1024;
const writableByOthers = 0o022;
const sticky = 0o1000;

/**
 * Text of a file that only the user may write; null: missing. Throws config_invalid, with the command that repairs it,
 * if others may write the file or its folder, if it belongs to another user, and for anything but a regular file.
 */
export function readPrivate(file: string): string | null {
  const text = readRegular(file, { follow: true, judge: (stat) => judgeOwner(file, stat) });
  if (text === null) return null;
  const folder = dirname(realpathSync(file));
  const stat = statSync(folder);
  if ((stat.mode & sticky) === 0) judgeOwner(folder, stat);
  return text;
}

/** Text of a regular file of at most 4 MiB; null: missing, or a link without `follow`. `judge` sees its stat first. */
export function readRegular(
  file: string,
  options: { readonly follow: boolean; readonly judge?: (stat: Stats) => void },
): string | null {
  // A pipe in the place of the file must not make pai wait.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (options.follow ? 0 : constants.O_NOFOLLOW);
  const fd = openIfThere(file, flags);
  if (fd === null) return null;
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new PaiError("config_invalid", `${file} is not a regular file`);
    if (stat.size > maxBytes) throw new PaiError("config_invalid", `${file} is larger than 4 MiB`);
    options.judge?.(stat);
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

/** Atomically replaces a file, 0600 in a folder 0700; follows a link. `lasting` false: a power cut may lose it. */
export function writePrivate(file: string, text: string, { lasting = true } = {}): void {
  makePrivateFolder(dirname(file));
  replaceFile(targetOf(file), text, { mode: 0o600, lasting });
}

/** Names, without `.jsonl`, of the regular files in a folder that have this extension; none if it cannot be read. */
export const listJsonl = (folder: string): readonly string[] =>
  entriesOf(folder).flatMap((entry) =>
    entry.isFile() && entry.name.endsWith(".jsonl") ? [entry.name.slice(0, -6)] : [],
  );

const makePrivateFolder = (folder: string) => mkdirSync(folder, { recursive: true, mode: 0o700 });

/**
 * A file of lines that is added to, made at the first of them: folder with mode 0700, file with 0600. `isNew`: no such
 * file may be there. Once a line cannot be written, `failed` is called, and nothing more is.
 */
export function openLines(file: string, isNew: boolean, failed: (thrown: unknown) => void) {
  const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  let fd: number | null = null;
  let ended = false;
  return {
    write(lines: string | Uint8Array): void {
      if (ended) return;
      try {
        if (fd === null) makePrivateFolder(dirname(file));
        fd ??= openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | (isNew ? O_EXCL : 0), 0o600);
        writeBytes(fd, lines);
      } catch (thrown) {
        ended = true;
        failed(thrown);
      }
    },
    close(): void {
      ended = true;
      if (fd !== null) closeSync(fd);
      fd = null;
    },
  };
}

function judgeOwner(path: string, stat: Stats): void {
  const user = process.geteuid?.() ?? stat.uid;
  if (stat.uid !== user && !isOfSystem(stat)) {
    throw new PaiError("config_invalid", `${path} belongs to another user (uid ${stat.uid}), so it is not used`, {
      hint: `chown ${user} ${spellForShell(path)}`,
    });
  }
  if ((stat.mode & writableByOthers) !== 0) {
    throw new PaiError("config_invalid", `${path} can be written by other users, so it is not used`, {
      hint: `chmod go-w ${spellForShell(path)}`,
    });
  }
}

function targetOf(file: string): string {
  if (entryAt(file)?.isSymbolicLink() !== true) return file;
  try {
    return realpathSync(file);
  } catch (cause) {
    throw new PaiError("config_invalid", `${file} is a broken link`, {
      hint: `make its target, or remove it: rm ${spellForShell(file)}`,
      cause,
    });
  }
}

/** The descriptor of a file; null if it is missing, or a link that `flags` do not follow. Throws other system errors. */
const openIfThere = (file: string, flags: number): number | null =>
  (entryAt(file) && unless(["ENOENT", "ENOTDIR", "ELOOP"], () => openSync(file, flags))) ?? null;

/** Holds the lock of `file` during `work`. Throws io_failed if another process holds it for more than five seconds. */
export function withLock<T>(file: string, work: () => T): T {
  makePrivateFolder(dirname(file));
  const path = `${targetOf(file)}.lock`;
  let held = takeLock(path);
  for (let tries = 0; held === null; tries += 1) {
    if (tries >= 500) throw new PaiError("io_failed", `another pai is writing ${file}`, { hint: hintOfHeld(path) });
    Bun.sleepSync(10);
    held = takeLock(path);
  }
  try {
    return work();
  } finally {
    rmSync(path, { force: true });
    held.release();
  }
}
