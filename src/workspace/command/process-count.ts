/** Counts the processes of a command where the kernel has no limit of them for its user, who is root. */
import { readdirSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

const everyMs = 50;

/**
 * Calls `onMany`, once, when `top`, what came from it and what pai was left with by it have more than `most` threads. The
 * result ends that.
 */
export function watchCount(top: number, most: number, onMany: () => void): () => void {
  let others = allThreads();
  const before = new Set(readProcesses().map(({ id }) => id));
  let usual: number | null = null;
  const look = (): void => {
    const all = allThreads();
    if (usual === null && all - others > most / 8) {
      // Among thousands of runnable processes pai would be scheduled too late.
      usual = getPriority();
      preferUs(urgent);
    }
    if (all - others <= most) return;
    const own = countThreads(top, before);
    // What else has begun on this machine is looked at only once.
    others = all - own;
    if (own <= most) return;
    clearInterval(timer);
    onMany();
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (usual !== null) preferUs(usual);
  };
}

const urgent = -15;

function preferUs(priority: number): void {
  try {
    setPriority(priority);
  } catch {
    // Root in a container may not be allowed to.
  }
}

/** Of the whole machine: reading it costs next to nothing. */
function allThreads(): number {
  try {
    return Number(/\/(\d+) /.exec(readFileSync("/proc/loadavg", "latin1"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

interface Process {
  readonly id: number;
  readonly parent: number;
  readonly threads: number;
}

function readProcesses(): readonly Process[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      const words = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return [{ id: Number(name), parent: Number(words[1]), threads: Number(words[17]) }];
    } catch {
      return [];
    }
  });
}

/** An orphaned process that a command started gets pai as its parent. */
function countThreads(top: number, before: ReadonlySet<number>): number {
  const children = Map.groupBy(readProcesses(), ({ parent }) => parent);
  const left = (children.get(process.pid) ?? []).filter(({ id }) => id === top || !before.has(id));
  let count = 0;
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    count += at.threads;
    left.push(...(children.get(at.id) ?? []));
  }
  return count;
}
