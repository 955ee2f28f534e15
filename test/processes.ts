/** Processes that tests wait for: until they stand, and until they are gone. A wait ends with what it waits for. */
import { readdirSync, readFileSync } from "node:fs";

/** Whether it holds by and by. Only a test that fails waits a minute. */
export async function comesTrue(what: () => boolean): Promise<boolean> {
  for (const end = performance.now() + 60_000; performance.now() < end; await Bun.sleep(10)) if (what()) return true;
  return what();
}

/** One that only waits to be buried does not run. */
export function isRunning(pid: number | string): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ");
  } catch {
    return false;
  }
}

/** Whether a process has ended, by and by: a signal reaches it only when it has its turn. */
export const ends = (pid: number | string): Promise<boolean> => comesTrue(() => !isRunning(pid));

let made = 0;
/** A time that nobody else sleeps; by it a process is found. */
export const oddTime = (seconds: number): string => `${seconds}.${process.pid}${++made}`;

function isSleeping(time: string): boolean {
  return readdirSync("/proc").some((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "latin1") === `sleep\0${time}\0`;
    } catch {
      return false;
    }
  });
}

/** Throws unless somebody sleeps that time by and by. */
export async function sleeps(time: string): Promise<void> {
  if (!(await comesTrue(() => isSleeping(time)))) throw new Error(`nobody sleeps ${time}`);
}

/** Throws unless nobody sleeps that time any more by and by. */
export async function wakes(time: string): Promise<void> {
  if (!(await comesTrue(() => !isSleeping(time)))) throw new Error(`somebody still sleeps ${time}`);
}
