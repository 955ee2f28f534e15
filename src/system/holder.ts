/** Identifies the process that holds something, even if its id is used again later. */
import { closeSync, openSync, readlinkSync, readSync } from "node:fs";

export interface Holder {
  readonly pid: number;
  /** Start time of the process, in clock ticks since boot. */
  readonly start: string;
  /** Id of the machine's boot. */
  readonly boot: string;
  /** Process-id namespace: in another one the same id is another process. */
  readonly space: string;
}

/** Throws a system error where there is no /proc. */
export function thisProcess(): Holder {
  return {
    pid: process.pid,
    start: startOf(process.pid) ?? "",
    boot: readProc("/proc/sys/kernel/random/boot_id").trim(),
    space: readlinkSync("/proc/self/ns/pid"),
  };
}

/** Whether that process still runs. One in another namespace cannot be checked and counts as alive. */
export function isAlive(holder: Holder): boolean {
  const here = thisProcess();
  if (holder.boot !== here.boot) return false;
  return holder.space !== here.space || startOf(holder.pid) === holder.start;
}

/** Whether a process has this id now. Unlike `isAlive` it takes a later process with the same id for the earlier one. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}

export function sameHolder(a: Holder, b: Holder): boolean {
  return a.pid === b.pid && a.start === b.start && a.boot === b.boot && a.space === b.space;
}

/** Reads a holder from unchecked JSON; null: it is none. */
export function parseHolder(value: unknown): Holder | null {
  if (typeof value !== "object" || value === null) return null;
  const { pid, start, boot, space } = value as Record<string, unknown>;
  return typeof pid === "number" && typeof start === "string" && typeof boot === "string" && typeof space === "string"
    ? { pid, start, boot, space }
    : null;
}

/** null: there is no such process, or it is a zombie. */
function startOf(pid: number): string | null {
  try {
    const stat = readProc(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/** Text of a short file in /proc. The kernel allocates as much as is asked for, and `readFileSync` asks for 256 KiB. */
function readProc(path: string): string {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(4096);
    return bytes.toString("utf8", 0, readSync(fd, bytes, 0, bytes.length, null));
  } finally {
    closeSync(fd);
  }
}
