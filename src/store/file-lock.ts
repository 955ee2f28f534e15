/** The lock of a file: a second file beside it that names the process which holds it. */
import { closeSync, constants, fstatSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { PaiError } from "../core/error.ts";
import { type Holder, isAlive, parseHolder, thisProcess } from "../system/holder.ts";
import { errnoOf, makePrivateFolder, openIfThere, removeIfThere, targetOf } from "./safe-file.ts";

/**
 * Runs `work` while no other pai holds the lock of `file`; takes over a lock whose process has died. Throws io_failed
 * if another process holds it for more than five seconds.
 */
export function withLock<T>(file: string, work: () => T): T {
  makePrivateFolder(dirname(file));
  const lock = `${targetOf(file)}.lock`;
  for (let tries = 0; !takeLock(lock); tries += 1) {
    if (tries >= 500) {
      throw new PaiError("io_failed", `another pai is writing ${file}`, { hint: `if none is running: rm ${lock}` });
    }
    Bun.sleepSync(10);
  }
  try {
    return work();
  } finally {
    removeIfThere(lock);
  }
}

function takeLock(lock: string): boolean {
  try {
    const fd = openSync(lock, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    writeFileSync(fd, JSON.stringify(thisProcess()));
    closeSync(fd);
    return true;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    if (isAbandoned(lock)) removeIfThere(lock);
    return false;
  }
}

/**
 * Whether the process that made a lock has died. A lock without a process's start time (empty because it is new, or
 * from an older pai) is judged by its age, since work under a lock takes milliseconds.
 */
function isAbandoned(lock: string): boolean {
  const fd = openIfThere(lock, constants.O_RDONLY | constants.O_NOFOLLOW);
  if (fd === null) return false;
  try {
    const holder = parseHolderText(readFileSync(fd, "utf8"));
    return holder === null ? Date.now() - fstatSync(fd).mtimeMs > 2000 : !isAlive(holder);
  } finally {
    closeSync(fd);
  }
}

function parseHolderText(text: string): Holder | null {
  try {
    return parseHolder(JSON.parse(text));
  } catch {
    return null;
  }
}
