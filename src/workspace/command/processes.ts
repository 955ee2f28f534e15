/** Ends everything a command started, also what left its process group. */
import { readdirSync, readFileSync } from "node:fs";

/** Name of the variable that every process of a command inherits; its value names the command. */
export const commandMark = "PAI_COMMAND";

/**
 * Ends the processes of group `group` and those that carry `mark`: TERM, `graceMs` later KILL.
 * Returns when none is left, or a second after the KILL.
 */
export async function endProcesses(group: number, mark: string, graceMs: number): Promise<void> {
  const killAt = performance.now() + graceMs;
  const giveUpAt = killAt + 1000;
  let asked = new Set<number>();
  let pause = 2;
  for (;;) {
    const alive = processesOf(group, mark);
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

function processesOf(group: number, mark: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => pid !== process.pid && belongs(pid, group, mark));
}

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
