/** Ends everything a command started, also what left its process group. */
import { readdirSync, readFileSync } from "node:fs";

/** Name of the variable that every process of a command inherits; its value names the command. */
export const commandMark = "PAI_COMMAND";

/**
 * Ends the processes of group `group` and those that carry `mark`: TERM, `graceMs` later KILL.
 * Returns when none is left, or a second after the KILL.
 */
export async function endProcesses(
  group: number,
  mark: string,
  graceMs: number,
  isStray: (pid: number) => boolean = () => false,
): Promise<void> {
  const killAt = performance.now() + graceMs;
  const giveUpAt = killAt + 1000;
  let asked = new Set<number>();
  let pause = 2;
  for (;;) {
    const alive = processesOf(group, mark, isStray);
    const now = performance.now();
    if (alive.length === 0 || now > giveUpAt) return;
    for (const pid of alive) {
      if (now >= killAt) send(pid, "SIGKILL");
      else if (!asked.has(pid)) send(pid, "SIGTERM");
    }
    asked = new Set(alive);
    await Bun.sleep(pause);
    pause = Math.min(pause * 2, 50);
  }
}

/** Ends them at once, for when there is no time to wait: the watcher of the group has been asked to end, too. */
export function killProcesses(group: number, mark: string): void {
  for (const pid of processesOf(group, mark)) send(pid, "SIGKILL");
}

function processesOf(group: number, mark: string, isStray: (pid: number) => boolean = () => false): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => pid !== process.pid && (belongs(pid, group, mark) || isStray(pid)));
}

/** Groups of the commands that run now: their processes are no strays of another. */
const groups = new Set<number>();

/** Tells of a command that runs from now on; the result ends that. */
export function announceGroup(group: number): () => void {
  groups.add(group);
  return () => groups.delete(group);
}

/**
 * Whether a process came to pai since this call as what a command left behind: pai is its parent, it was not before, and it
 * has its own session, which no process that pai starts for itself has.
 */
export function watchStrays(): (pid: number) => boolean {
  const before = new Set(childrenOfPai());
  const session = sessionOf(process.pid);
  return (pid) => {
    const [state, parent] = statOf(pid);
    if (parent !== process.pid || state === "Z" || state === "X" || before.has(pid) || groups.has(pid)) return false;
    const own = sessionOf(pid);
    return own !== session && !groups.has(own);
  };
}

const childrenOfPai = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid)[1] === process.pid);

function statOf(pid: number): readonly [state: string, parent: number, group: number, session: number] {
  const stat = readProc(pid, "stat");
  const [state = "X", parent = "0", group = "0", session = "0"] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return [state, Number(parent), Number(group), Number(session)];
}

const sessionOf = (pid: number): number => statOf(pid)[3];

function belongs(pid: number, group: number, mark: string): boolean {
  const stat = readProc(pid, "stat");
  const [state, , pgrp] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (stat === "" || state === "Z" || state === "X") return false;
  return Number(pgrp) === group || `\0${readProc(pid, "environ")}`.includes(`\0${commandMark}=${mark}\0`);
}

/** Empty for what has ended or belongs to somebody else. */
function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}

function send(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Ended meanwhile, or not ours to end.
  }
}
