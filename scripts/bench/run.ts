/** Starts programs for the bench and measures them from outside. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ScriptedServer } from "./server.ts";
import { type Folder, makeFolder, repliesFor, requestFor } from "./task.ts";

export interface Bench {
  /** A temporary folder of the bench. */
  readonly place: string;
  readonly pai: string;
  readonly server: ScriptedServer;
  /** Number of the next run. */
  next: number;
}

export interface Sample {
  /** Milliseconds from the start of the process to its end. */
  readonly wall: number;
  /** Milliseconds of processor time. */
  readonly cpu: number;
  /** Peak memory in megabytes; NaN: unknown, since the bench had a higher peak, which Linux passes on to its child. */
  readonly peak: number;
}

export interface TaskSample extends Sample {
  /** Milliseconds from the start of the process to its first request. */
  readonly first: number;
  readonly bodies: readonly string[];
}

export async function runOnce(
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Sample> {
  const started = performance.now();
  const child = Bun.spawn([...command], { cwd, env: { ...env }, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const code = await child.exited;
  const wall = performance.now() - started;
  if (code !== 0)
    throw new Error(`${command.join(" ")} ended with ${code}:\n${await new Response(child.stderr).text()}`);
  const usage = child.resourceUsage();
  const [peak, own] = [(usage?.maxRSS ?? 0) / 1024 / 1024, process.resourceUsage().maxRSS / 1024];
  return { wall, cpu: Number(usage?.cpuTime.total ?? 0) / 1000, peak: peak > own ? peak : Number.NaN };
}

/** The environment of the measured pai. */
export function envOf({ place, server }: Bench): Record<string, string> {
  return {
    PATH: "/usr/bin:/bin",
    HOME: join(place, "home"),
    GEMINI_API_KEY: "AIzaBENCHBENCHBENCHBENCHBENCHBENCHBENC",
    GOOGLE_GEMINI_BASE_URL: server.origin,
  };
}

/** Prepares a fresh folder and the replies; returns the command that does the task there. */
function prepareTask(bench: Bench, folder: Folder, phases: 1 | 3): { command: readonly string[]; cwd: string } {
  bench.next += 1;
  const cwd = join(bench.place, `work-${bench.next}`);
  makeFolder(cwd, folder);
  bench.server.play(repliesFor(folder, phases));
  return { command: [bench.pai, "run", "-y", requestFor(bench.next)], cwd };
}

/** Runs one whole task: two calls, and one more for each further phase. */
export async function runTask(bench: Bench, folder: Folder, phases: 1 | 3): Promise<TaskSample> {
  const { command, cwd } = prepareTask(bench, folder, phases);
  const started = performance.now();
  const sample = await runOnce(command, cwd, envOf(bench));
  const { seen } = bench.server;
  if (seen.length !== phases + 1) throw new Error(`${seen.length} calls instead of ${phases + 1}`);
  return { ...sample, first: (seen[0]?.at ?? started) - started, bodies: seen.map(({ body }) => body) };
}

/** Number of programs that a task starts besides pai, and of its waits for the disk; null without strace. */
export async function traceTask(bench: Bench): Promise<{ readonly programs: number; readonly syncs: number } | null> {
  if (spawnSync("strace", ["-V"]).status !== 0) return null;
  const { command, cwd } = prepareTask(bench, "small", 1);
  const trace = join(bench.place, "trace");
  await runOnce(
    ["strace", "-f", "-qq", "-e", "trace=execve,fsync,fdatasync", "-o", trace, ...command],
    cwd,
    envOf(bench),
  );
  const lines = readFileSync(trace, "utf8").split("\n");
  const count = (call: RegExp) => lines.filter((line) => call.test(line) && !line.includes("resumed>")).length;
  return { programs: count(/ execve\(/) - 1, syncs: count(/ f(data)?sync\(/) };
}
