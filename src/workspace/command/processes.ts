/** Ends the processes that a command started, including those that left its process group or session. */
import { readdirSync, readFileSync } from "node:fs";

/** Environment variable that identifies the command of a process. */
export const commandMark = "PAI_COMMAND";

/**
 * Ends the processes of group `group` and those that carry `mark`: TERM, `graceMs` later KILL. Returns when none is left
 * (true), or ten seconds after the first KILL (false): thousands take a while to end.
 */
export async function endProcesses(group: number, mark: string, graceMs: number): Promise<boolean> {
  const killAt = performance.now() + graceMs;
  const giveUpAt = killAt + 10_000;
  let asked = new Set<number>();
  let pause = 2;
  for (;;) {
    const running = look(group, mark);
    const now = performance.now();
    if (running.length === 0) return true;
    if (now > giveUpAt) return false;
    const isLate = now >= killAt;
    // All of the group at once: none of them can fork meanwhile.
    if (isLate) send(-group, "SIGKILL");
    for (const pid of running.filter((each) => isLate || !asked.has(each))) send(pid, isLate ? "SIGKILL" : "SIGTERM");
    asked = new Set(running);
    await Bun.sleep(pause);
    pause = Math.min(pause * 2, 50);
  }
}

const look = (group: number, mark: string): readonly number[] =>
  allProcesses().filter((pid) => belongs(pid, group, mark));

/** Kills them at once, when there is no time to wait; the group's watcher has been asked to end as well. */
export function killProcesses(group: number, mark: string): void {
  for (const pid of look(group, mark)) send(pid, "SIGKILL");
}

const allProcesses = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid);

function belongs(pid: number, group: number, mark: string): boolean {
  const stat = readProc(pid, "stat");
  // A name may hold blanks and brackets.
  const [state = "X", , ownGroup, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === "" || state === "Z" || state === "X") return false;
  if (Number(ownGroup) === group || Number(session) === group) return true;
  return `\0${readProc(pid, "environ")}`.includes(`\0${commandMark}=${mark}\0`);
}

/** "" for a process that has ended or belongs to another user. */
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
