/** Kills a process that runs a command, and counts what is left of the command: `kill-pai.ts FOLDER`; prints JSON. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { levelOf, type Way, ways } from "../../../src/workspace/sandbox/confinement.ts";
import { openOnly } from "./bare-confinement.ts";

export interface Killed {
  readonly way: Way;
  readonly before: number;
  readonly after: number;
}

/** Children in the session and outside of it, deaf to signals that can be refused. */
const command = (time: string) => `trap '' TERM HUP; setsid sleep ${time} & sleep ${time} & sleep ${time}`;

function countSleeping(time: string): number {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "latin1") === `sleep\0${time}\0`;
    } catch {
      return false;
    }
  }).length;
}

async function runForever(folder: string, way: Way, time: string): Promise<void> {
  const workspace = join(folder, "ws");
  mkdirSync(workspace, { recursive: true });
  const { state, run } = await openOnly(way, workspace);
  if (state.level !== levelOf(way)) process.exit(3);
  await run(command(time));
}

async function killAt(folder: string, way: Way): Promise<readonly Killed[]> {
  const time = `4242.${process.pid}${ways.indexOf(way)}`;
  const pai = Bun.spawn([process.execPath, Bun.main, folder, way, time], { stdout: "ignore", stderr: "inherit" });
  for (let tries = 0; tries < 3000 && countSleeping(time) < 3 && pai.exitCode === null; tries += 1) await Bun.sleep(20);
  if (pai.exitCode === 3) return [];
  const before = countSleeping(time);
  pai.kill("SIGKILL");
  await pai.exited;
  await Bun.sleep(500);
  return [{ way, before, after: countSleeping(time) }];
}

if (import.meta.main) {
  const [folder = "", way, time] = process.argv.slice(2);
  if (way !== undefined) await runForever(folder, way as Way, time ?? "");
  else {
    const killed: Killed[] = [];
    // What the lower levels leave behind is ended by pai itself, which a killed pai cannot.
    for (const each of ["namespaces", "bubblewrap"] as const) killed.push(...(await killAt(folder, each)));
    console.log(JSON.stringify(killed));
  }
  process.exit(0);
}
