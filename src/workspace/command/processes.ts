/** Ends all processes that a command started, including those that left its process group. */
import { readdirSync, readFileSync } from "node:fs";
import { openLibc } from "../../system/libc.ts";

/** Environment variable that identifies the command of a process. */
export const commandMark = "PAI_COMMAND";

/** From `/proc/PID/stat`; state "Z" or "X": it has ended, "": there is no such process. */
interface Stat {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

/** A process that the command left behind: running, or ended but not reaped yet. null: it is none. */
type Stray = "running" | "ended" | null;
type StrayOf = (pid: number, stat: Stat) => Stray;
const noStrays: StrayOf = () => null;

/**
 * Ends the processes of group `group`, those that carry `mark` and strays: TERM, `graceMs` later KILL.
 * Returns when none is left (true), or ten seconds after the first KILL (false): thousands take a while to end.
 */
export async function endProcesses(
  group: number,
  mark: string,
  graceMs: number,
  strayOf: StrayOf = noStrays,
): Promise<boolean> {
  const killAt = performance.now() + graceMs;
  const giveUpAt = killAt + 10_000;
  let asked = new Set<number>();
  let pause = 2;
  for (;;) {
    const { running, hasForked } = look(group, mark, strayOf);
    const now = performance.now();
    if (running.length === 0 && !hasForked) return true;
    if (now > giveUpAt) return false;
    if (now >= killAt) {
      // All of the group at once: none of them can fork meanwhile.
      send(-group, "SIGKILL");
      killUntil(now + burstMs, running, strayOf);
    } else askToEnd(running.filter((pid) => !asked.has(pid)));
    asked = new Set(running);
    await Bun.sleep(pause);
    pause = Math.min(pause * 2, 50);
  }
}

function askToEnd(pids: readonly number[]): void {
  for (const pid of pids) send(pid, "SIGTERM");
}

/** Finds running processes. One that forks and ends all the time may be missed, but leaves ended processes behind. */
function look(group: number, mark: string, strayOf: StrayOf) {
  const running: number[] = [];
  let hasForked = false;
  for (const pid of allProcesses()) {
    const stat = statOf(pid);
    const stray = strayOf(pid, stat);
    if (stray === "ended") hasForked = reap(pid) || hasForked;
    else if (stray === "running" || belongs(pid, stat, group, mark)) running.push(pid);
  }
  return { running, hasForked };
}

/** How long killing may block the event loop, in milliseconds. */
const burstMs = 100;
const quietRounds = 20;

/**
 * Kills without a pause, as only a fast search catches a chain of processes that keep forking. Looks at each process id
 * only once, since ids are not reused that soon.
 */
function killUntil(untilMs: number, pids: readonly number[], strayOf: StrayOf): void {
  for (const pid of pids) send(pid, "SIGKILL");
  const known = new Set<number>();
  for (let quiet = 0; quiet < quietRounds && performance.now() < untilMs; quiet += 1) {
    for (const pid of allProcesses()) {
      if (known.has(pid)) continue;
      known.add(pid);
      const stray = strayOf(pid, statOf(pid));
      if (stray === null) continue;
      if (stray === "running") send(pid, "SIGKILL");
      else reap(pid);
      quiet = 0;
    }
  }
}

/** Kills them at once, when there is no time to wait; the group's watcher has been asked to end as well. */
export function killProcesses(group: number, mark: string): void {
  for (const pid of look(group, mark, noStrays).running) send(pid, "SIGKILL");
}

const allProcesses = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid);

/** Groups of running commands; their processes are not strays of another command. */
const groups = new Set<number>();

/** Registers a running command; the returned function removes it. */
export function announceGroup(group: number): () => void {
  groups.add(group);
  return () => groups.delete(group);
}

/**
 * Finds processes that the command of `group` left behind: they became children of pai after this call, and their
 * session belongs neither to pai nor to another command.
 */
export function watchStrays(group: number): StrayOf {
  const before = new Set(allProcesses().filter((pid) => statOf(pid).parent === process.pid));
  const { session } = statOf(process.pid);
  const isOther = (id: number) => id !== group && groups.has(id);
  return (pid, stat) => {
    if (stat.parent !== process.pid || before.has(pid) || isOther(pid)) return null;
    if (isOther(stat.session) || stat.session === session) return null;
    return hasEnded(stat) ? "ended" : "running";
  };
}

const hasEnded = ({ state }: Stat): boolean => state === "Z" || state === "X";

function statOf(pid: number): Stat {
  const stat = readProc(pid, "stat");
  const [state = "X", parent = "0", group = "0", session = "0"] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state, parent: Number(parent), group: Number(group), session: Number(session) };
}

function belongs(pid: number, stat: Stat, group: number, mark: string): boolean {
  if (hasEnded(stat)) return false;
  return (
    stat.group === group ||
    stat.session === group ||
    `\0${readProc(pid, "environ")}`.includes(`\0${commandMark}=${mark}\0`)
  );
}

/** "" for a process that has ended or belongs to another user. */
function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}

const noHang = 1;
const waitShape = {
  waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
} as const;
let libc: ReturnType<typeof openLibc<typeof waitShape>> | undefined;

/** Reaps an ended child. False: it could not be reaped, so it does not show that something forked since. */
function reap(pid: number): boolean {
  libc ??= openLibc(waitShape);
  return libc?.functions.waitpid(pid, null, noHang) === pid;
}

function send(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Ended meanwhile, or not ours to end.
  }
}
