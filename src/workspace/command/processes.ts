/** Ends the processes that a command started, including those that left its process group and its session. */

import { readdirSync } from "node:fs";
import { orNull } from "../../core/error.ts";
import { openLibc } from "../../system/libc.ts";
import { textOfSystem } from "../../system/lookups.ts";

/** The processes of one command. */
export interface Processes {
  /**
   * Ends them: TERM, `graceMs` later KILL. Returns when none is left (true), or ten seconds after the first KILL (false):
   * thousands take a while to end.
   */
  end(graceMs: number): Promise<boolean>;
  /** Kills them at once, when there is no time to wait; the group's watcher has been asked to end as well. */
  kill(): void;
  /** From now on they are no command's; takes those that have ended off the list of processes, as their parent must. */
  leave(): void;
}

/** Groups of running commands. */
const groups = new Set<number>();

/**
 * Finds the processes of group `group`: those of the group and its session, and whatever became a child of pai since, as
 * orphans do (`protectProcess`), unless its session is pai's own or another command's.
 */
function openFinder(group: number, isContained: boolean): (hasEnded: boolean) => readonly number[] {
  const { session: ours } = statOf(process.pid);
  const before = new Set(isContained ? [] : allProcesses().filter((pid) => statOf(pid).parent === process.pid));
  const isStray = (pid: number, { parent, session }: Stat): boolean =>
    !isContained && parent === process.pid && !before.has(pid) && session !== ours && !groups.has(session);
  return (hasEnded) =>
    allProcesses().filter((pid) => {
      const stat = statOf(pid);
      return stat.hasEnded === hasEnded && (stat.group === group || stat.session === group || isStray(pid, stat));
    });
}

const noHang = 1;
const shapes = { waitpid: { args: ["i32", "u64", "i32"], returns: "i32" } } as const;

/** `isContained`: no process can leave the group and outlive it, so nobody else is looked for. */
export function followProcesses(group: number, isContained: boolean): Processes {
  const find = openFinder(group, isContained);
  groups.add(group);
  const kill = (): void => {
    // All of the group at once: none of them can fork meanwhile.
    send(-group, "SIGKILL");
    for (const pid of find(false)) send(pid, "SIGKILL");
  };
  return {
    async end(graceMs) {
      const killAt = performance.now() + graceMs;
      const asked = new Set<number>();
      const ask = (pid: number): void => {
        if (!asked.has(pid)) send(pid, "SIGTERM");
        asked.add(pid);
      };
      for (let pause = 2; performance.now() < killAt + 10_000; pause = Math.min(pause * 2, 50)) {
        const running = find(false);
        if (running.length === 0) return true;
        if (performance.now() >= killAt) kill();
        else running.forEach(ask);
        await Bun.sleep(pause);
      }
      return false;
    },
    kill,
    leave() {
      // Its own process is waited for by who started it.
      const orphans = isContained ? [] : find(true).filter((pid) => pid !== group);
      const libc = orphans.length === 0 ? null : openLibc(shapes);
      for (const pid of orphans) libc?.functions.waitpid(pid, 0, noHang);
      groups.delete(group);
    },
  };
}

const allProcesses = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid);

/** From `/proc/PID/stat`. */
interface Stat {
  readonly hasEnded: boolean;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

function statOf(pid: number): Stat {
  // "" for a process that has ended or belongs to another user.
  const stat = textOfSystem(`/proc/${pid}/stat`);
  // A name may hold blanks and brackets.
  const [state = "", parent, group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    hasEnded: ["", "Z", "X"].includes(state),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
  };
}

/** It may have ended meanwhile, or not be ours to end. */
const send = (pid: number, signal: "SIGTERM" | "SIGKILL") => void orNull(() => process.kill(pid, signal));
