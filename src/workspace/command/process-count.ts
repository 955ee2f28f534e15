/** Counts the processes of a command where no kernel limit applies, since its user is root. */
import { readdirSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

const everyMs = 50;

/**
 * Calls `onMany` once when the process `top`, its descendants and the orphans that pai adopted have more than
 * `maxThreads` threads. The returned function stops the watch.
 */
export function watchCount(top: number, maxThreads: number, onMany: () => void): () => void {
  let others = allThreads();
  const before = new Set(readProcesses().map(({ id }) => id));
  let usual: number | null = null;
  const look = (): void => {
    const all = allThreads();
    if (usual === null && all - others > maxThreads / 8) {
      // Among thousands of runnable processes pai would be scheduled too late.
      usual = getPriority();
      preferUs(urgent);
    }
    if (all - others <= maxThreads) return;
    const own = countThreads(top, before);
    // Other programs may have started them; each such increase is examined only once.
    others = all - own;
    if (own <= maxThreads) return;
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

/** Threads of the whole machine; cheap to read. */
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

/** Threads of the command. pai becomes the parent of its orphaned processes. */
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
