/** Ends the processes that a command started, including those that left its process group and its session. */

import { readdirSync } from "node:fs";
import { orNull } from "../../core/error.ts";
import { openLibc } from "../../system/libc.ts";
import { textOfSystem } from "../../system/lookups.ts";

/** Groups of running commands. */
const groups = new Set<number>();
const noHang = 1;
const shapes = { waitpid: { args: ["i32", "u64", "i32"], returns: "i32" } } as const;

/** The processes of one command. `isContained`: none can leave the group and outlive it, so nobody else is looked for. */
export function followProcesses(group: number, isContained: boolean) {
  const { session: ours } = statOf(process.pid);
  const { begun } = statOf(group);
  const known = new Set<number>();
  groups.add(group);
  /** Orphans become children of pai (`protectProcess`). What it has started itself is older, or in its own session. */
  const isOrphan = ({ parent, session, begun: at }: Stat): boolean =>
    !isContained && parent === process.pid && at >= begun && session !== ours && !groups.has(session);
  const findRunning = (): readonly number[] => {
    const all = allProcesses().map(statOf);
    const mine = all.filter((each) => each.group === group || each.session === group || isOrphan(each));
    for (const { pid } of mine) known.add(pid);
    return mine.flatMap(({ pid, hasEnded }) => (hasEnded ? [] : [pid]));
  };
  const kill = (): void => {
    // All of the group at once: none of them can fork meanwhile.
    send(-group, "SIGKILL");
    for (const pid of findRunning()) send(pid, "SIGKILL");
  };
  return {
    /** Ends them: TERM, `graceMs` later KILL. False: ten seconds after the first KILL one of thousands is left. */
    async end(graceMs: number): Promise<boolean> {
      const killAt = performance.now() + graceMs;
      const asked = new Set<number>();
      for (let pause = 2; performance.now() < killAt + 10_000; pause = Math.min(pause * 2, 50)) {
        const running = findRunning();
        if (running.length === 0) return true;
        if (performance.now() >= killAt) kill();
        for (const pid of running) {
          if (!asked.has(pid)) send(pid, "SIGTERM");
          asked.add(pid);
        }
        await Bun.sleep(pause);
      }
      return false;
    },
    /** When there is no time to wait. */
    kill,
    /** From now on they are no command's; takes those that have ended off the list of processes, as their parent must. */
    leave(): void {
      groups.delete(group);
      // The command itself is waited for by who started it.
      known.delete(group);
      const libc = isContained || known.size === 0 ? null : openLibc(shapes);
      for (const pid of known) libc?.functions.waitpid(pid, 0, noHang);
    },
  };
}

const allProcesses = (): readonly number[] =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid);

/** From `/proc/PID/stat`. */
interface Stat {
  readonly pid: number;
  readonly hasEnded: boolean;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** In ticks since the machine was started. */
  readonly begun: number;
}

function statOf(pid: number): Stat {
  // "" for a process that has ended or belongs to another user.
  const stat = textOfSystem(`/proc/${pid}/stat`);
  // A name may hold blanks and brackets.
  const [state = "", ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [parent = Number.NaN, group = Number.NaN, session = Number.NaN] = fields.map(Number);
  return { pid, hasEnded: ["", "Z", "X"].includes(state), parent, group, session, begun: Number(fields[18]) };
}

/** It may have ended meanwhile, or not be ours to end. */
const send = (pid: number, signal: "SIGTERM" | "SIGKILL") => void orNull(() => process.kill(pid, signal));
