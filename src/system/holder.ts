/** Which process holds something, told in a way that outlives its process id being used again. */
import { closeSync, openSync, readlinkSync, readSync } from "node:fs";

export interface Holder {
  readonly pid: number;
  /** When the process started, in clock ticks since boot. */
  readonly start: string;
  /** Which boot of the machine. */
  readonly boot: string;
  /** Which process-id namespace: elsewhere the number means another process. */
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

/** Whether that process still runs. One of another namespace counts as alive: it cannot be checked. */
export function isAlive(holder: Holder): boolean {
  const here = thisProcess();
  if (holder.boot !== here.boot) return false;
  return holder.space !== here.space || startOf(holder.pid) === holder.start;
}

export function sameHolder(a: Holder, b: Holder): boolean {
  return a.pid === b.pid && a.start === b.start && a.boot === b.boot && a.space === b.space;
}

/** Reads a holder out of JSON that may be anything. */
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

/** The text of a short file of /proc. The kernel makes room for all that is asked for, and `readFileSync` asks for 256 KiB. */
function readProc(path: string): string {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(4096);
    return bytes.toString("utf8", 0, readSync(fd, bytes, 0, bytes.length, null));
  } finally {
    closeSync(fd);
  }
}
