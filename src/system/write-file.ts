/** Writes files whole, for projects and for pai's own folders: a new file gets its bytes, then its rights, then its name. */
import { closeSync, constants, fchmodSync, fsyncSync, futimesSync, openSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Bun writes less than 256 KiB before it returns, so that nobody has to wait while a lock is held. */
const pieceBytes = 128 * 1024;

/** Writes all bytes at the descriptor's position. Throws system errors. */
export function writeBytes(fd: number, data: string | Uint8Array): void {
  const bytes = typeof data === "string" ? Buffer.from(data) : data;
  const file = Bun.file(fd);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const writing = Bun.write(file, bytes.subarray(at, at + pieceBytes));
    writing.catch(() => {});
    const written: unknown = Bun.peek(writing);
    if (written instanceof Error) throw written;
    if (typeof written !== "number") throw new Error("Bun writes later than it should");
  }
}

export interface NewFile {
  /** Permission bits, whatever the umask; null: 0666 as the umask says. */
  readonly mode: number | null;
  /** Modification time in seconds since 1970; absent: now. */
  readonly time?: number;
  /** The bytes are on the disk when this returns. */
  readonly lasting: boolean;
  readonly opened?: () => void;
  /** Called before each effect on the new file; may throw instead of it. */
  readonly before?: (effect: string) => void;
}

const fresh = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Makes a file that must not exist yet. Until its mode is set, only its owner may read it. A failure can leave a part of
 * it. Throws system errors.
 */
export function createFile(path: string, data: string | Uint8Array, options: NewFile): void {
  const { mode, time, lasting, opened, before } = options;
  const fd = openSync(path, fresh, mode === null ? 0o666 : 0o600);
  try {
    opened?.();
    before?.("write");
    writeBytes(fd, data);
    // After the bytes, since an access list may have set its mask meanwhile.
    if (mode !== null) {
      before?.("set mode");
      fchmodSync(fd, mode);
    }
    if (time !== undefined) {
      before?.("set time");
      futimesSync(fd, time, time);
    }
    if (lasting) {
      before?.("sync");
      fsyncSync(fd);
    }
  } finally {
    closeSync(fd);
  }
}

/** Atomically replaces a file, or makes it, with a temporary one beside it. Throws system errors. */
export function replaceFile(file: string, text: string, options: Pick<NewFile, "mode" | "lasting">): void {
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.${crypto.randomUUID().slice(0, 8)}`);
  try {
    createFile(temporary, text, options);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  if (options.lasting) syncFolder(dirname(file));
}

/** Makes a rename durable; some file systems cannot sync a folder. */
function syncFolder(folder: string): void {
  const fd = openSync(folder, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } catch {
  } finally {
    closeSync(fd);
  }
}
