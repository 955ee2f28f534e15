/** Atomically replaces a small file outside a project. */
import { closeSync, constants, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export interface ReplaceOptions {
  /** Mode 0600 from the start, whatever the umask; otherwise as the umask says. */
  readonly isPrivate: boolean;
  /** Syncs file and folder, so that the file survives a power cut. */
  readonly lasting: boolean;
}

/**
 * Writes a temporary file beside `file` and renames it. Uses a descriptor, which `Bun.write` does not give: the mode is
 * set before the first byte, and the bytes are synced before the rename.
 */
export function replaceFile(file: string, text: string, { isPrivate, lasting }: ReplaceOptions): void {
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.${crypto.randomUUID().slice(0, 8)}`);
  const fd = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, isPrivate ? 0o600 : 0o666);
  try {
    try {
      if (isPrivate) fchmodSync(fd, 0o600);
      writeFileSync(fd, text);
      if (lasting) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  if (lasting) syncFolder(dirname(file));
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } catch {
    // Some file systems cannot sync a folder; the rename has happened all the same.
  } finally {
    closeSync(fd);
  }
}
