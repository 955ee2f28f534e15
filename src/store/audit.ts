/** The audit log of a session: rendered from receipts when runs end, never read back, hidden from the model. */

import { closeSync, constants, existsSync, fchmodSync, fstatSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { cannotBeWritten, PaiError, toPaiError } from "../core/error.ts";
import type { Fact } from "../core/receipt.ts";
import { entryAt } from "../system/entry-at.ts";
import { writeBytes } from "../system/write-file.ts";
import { renderAuditLines, renderTime } from "./audit-lines.ts";
import { errnoOf, removeIfThere } from "./safe-file.ts";

export interface Audit {
  /** Adds a run; never throws. */
  readonly add: (facts: readonly Fact[]) => void;
  /** Path of the log; null before the first run, and if it cannot be kept. */
  readonly file: string | null;
  readonly close: () => void;
}

export interface AuditPlace {
  /** Real path of the workspace. */
  readonly root: string;
  /** State folder, for the log if the folder in the workspace is unusable; null: none. */
  readonly stateDir: string | null;
  readonly now: () => Date;
  /** Number of logs to keep. */
  readonly keep: number;
  /** Called once when the log is kept elsewhere, and once when it cannot be kept. */
  readonly warn: (text: string) => void;
}

interface OpenLog {
  readonly fd: number;
  readonly file: string;
}

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

const usualName = ".pai_history";

/** Creates nothing before the first run has ended. */
export function openAudit(place: AuditPlace): Audit {
  let log: OpenLog | null = null;
  let ended = false;

  return {
    add(facts) {
      const lines = ended || isSystemFolder(place.root) ? "" : renderAuditLines(facts);
      if (lines === "") return;
      try {
        log ??= openLog(place);
        writeBytes(log.fd, lines);
      } catch (error) {
        ended = true;
        place.warn(`the audit log cannot be kept: ${toPaiError(error, log?.file).message}`);
      }
    },
    get file() {
      return log?.file ?? null;
    },
    close() {
      ended = true;
      if (log !== null) closeSync(log.fd);
      log = null;
    },
  };
}

const systemFolders = "/boot /dev /etc /lib /lib64 /proc /run /sbin /bin /sys /usr /var/lib /var/log /var/spool".split(
  " ",
);

/** A folder of the system gets no log: its programs read every file in it. */
export const isSystemFolder = (root: string): boolean =>
  systemFolders.some((at) => root === at || root.startsWith(`${at}/`));

function openLog(place: AuditPlace): OpenLog {
  const folder = resolve(place.root, usualName);
  try {
    return openLogIn(folder, place);
  } catch (error) {
    if (place.stateDir === null) throw error;
    const elsewhere = join(place.stateDir, "history");
    const log = openLogIn(elsewhere, place);
    place.warn(`${toPaiError(error).message}; the audit log is ${log.file}`);
    return log;
  }
}

/** Errors name the folder: its files are opened through a descriptor, whose path means nothing to a person. */
function openLogIn(folder: string, place: AuditPlace): OpenLog {
  try {
    return openLogThrough(folder, place);
  } catch (error) {
    throw cannotBeWritten(folder, error) ?? error;
  }
}

/** Opens everything below the folder through its descriptor, so that nobody can replace it by a link meanwhile. */
function openLogThrough(folder: string, { now, keep }: AuditPlace): OpenLog {
  const time = now();
  const own = openOwnFolder(folder);
  try {
    const through = `/proc/self/fd/${own}`;
    const base = existsSync(through) ? through : folder;
    ignoreItself(base);
    const stamp = renderTime(time).slice(0, 19).replace(/[-:]/g, "").replace(" ", "_");
    for (let number = 1; number <= 1000; number += 1) {
      const name = `session_${stamp}${number === 1 ? "" : `_${number}`}.log`;
      const fd = createNew(join(base, name));
      if (fd !== null) prune(base, time, keep);
      if (fd !== null) return { fd, file: join(folder, name) };
    }
    throw new PaiError("io_failed", `${folder} has too many logs of this second`);
  } finally {
    closeSync(own);
  }
}

/** Age at which a log is removed, in milliseconds; the same as for receipts. */
const keptMs = 30 * 86_400_000;
const logName = /^session_\d{8}_\d{6}(?:_\d+)?\.log$/;

/** Removes the oldest logs by their names, which contain the time, without opening any. */
function prune(folder: string, now: Date, keep: number): void {
  const names = readdirSync(folder)
    .filter((name) => logName.test(name))
    .sort();
  const oldest = `session_${renderTime(new Date(now.getTime() - keptMs))
    .slice(0, 19)
    .replace(/[-:]/g, "")
    .replace(" ", "_")}`;
  const old = names.filter((name, at) => at < names.length - keep || name < oldest);
  for (const name of old) removeIfThere(join(folder, name));
}

/** A descriptor of the folder of logs, which holds nothing else. */
function openOwnFolder(folder: string): number {
  const there = entryAt(folder);
  if (there === undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
  else if (!there.isDirectory()) throw new PaiError("path_refused", `${folder} is not a folder of its own`);
  const fd = openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    const stat = fstatSync(fd);
    if (stat.uid !== (process.geteuid?.() ?? stat.uid)) {
      throw new PaiError("path_refused", `${folder} belongs to another user`);
    }
    if ((stat.mode & 0o077) !== 0) fchmodSync(fd, 0o700);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function ignoreItself(folder: string): void {
  const fd = createNew(join(folder, ".gitignore"));
  if (fd === null) return;
  try {
    writeBytes(fd, "*\n");
  } finally {
    closeSync(fd);
  }
}

/** null: the name is taken. */
function createNew(file: string): number | null {
  try {
    return openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return null;
    throw error;
  }
}
