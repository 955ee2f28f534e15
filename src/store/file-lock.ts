/** The lock of a private file, as a second file beside it. */
import { dirname } from "node:path";
import { PaiError } from "../core/error.ts";
import { claimOf, takeLock } from "../system/lock.ts";
import { makePrivateFolder, removeIfThere, targetOf } from "./safe-file.ts";

/**
 * Runs `work` while no other pai holds the lock of `file`. Throws io_failed if another process holds it for more than
 * five seconds.
 */
export function withLock<T>(file: string, work: () => T): T {
  makePrivateFolder(dirname(file));
  const path = `${targetOf(file)}.lock`;
  let held = takeLock(path);
  for (let tries = 0; held === null; tries += 1) {
    if (tries >= 500) throw stillHeld(file, path);
    Bun.sleepSync(10);
    held = takeLock(path);
  }
  try {
    return work();
  } finally {
    removeIfThere(path);
    held.release();
  }
}

function stillHeld(file: string, path: string): PaiError {
  const claim = claimOf(path);
  const hint = claim === null ? "wait for it to end" : `wait for it to end; if there is none, remove ${claim}`;
  return new PaiError("io_failed", `another pai is writing ${file}`, { hint });
}
