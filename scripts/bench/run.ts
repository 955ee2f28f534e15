/** Starts programs for the bench and measures them from outside. */
import { join } from "node:path";
import type { ScriptedServer } from "./server.ts";
import { atOnce, check, makeFolder, replies, requestFor } from "./task.ts";

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

/** Runs one whole task in a fresh folder: two calls. */
export async function runTask(bench: Bench): Promise<TaskSample> {
  bench.next += 1;
  const cwd = join(bench.place, `work-${bench.next}`);
  makeFolder(cwd);
  bench.server.play(replies);
  const started = performance.now();
  const sample = await runOnce([bench.pai, "run", "-y", requestFor(bench.next)], cwd, envOf(bench));
  const { seen } = bench.server;
  if (seen.length !== replies.length) throw new Error(`${seen.length} calls instead of ${replies.length}`);
  return { ...sample, first: (seen[0]?.at ?? started) - started };
}

/** Milliseconds that a model takes to answer, of those that are fast. */
const answerMs = 300;

/** Runs one task with a check in a fresh folder, by a model that takes its time: one call. */
export async function runSmall(bench: Bench): Promise<Pick<Sample, "wall"> & { readonly kilobytes: number }> {
  bench.next += 1;
  const cwd = join(bench.place, `work-${bench.next}`);
  makeFolder(cwd);
  bench.server.play(atOnce, undefined, answerMs);
  const command = [bench.pai, "run", "-y", "--check", check, requestFor(bench.next)];
  const { wall } = await runOnce(command, cwd, envOf(bench));
  const { seen } = bench.server;
  if (seen.length !== atOnce.length) throw new Error(`${seen.length} calls instead of ${atOnce.length}`);
  return { wall, kilobytes: seen.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0) / 1000 };
}

/** One row of the table. */
export interface Measured {
  readonly measure: string;
  readonly values: readonly number[];
  /** The most that the least of the values may be; absent: any. */
  readonly budget?: number;
  readonly unit: string;
}

export const minOf = (values: readonly number[]): number => Math.min(...values);

/** Runs every program once in each round, so that a busy moment of the machine affects all of them; the first is a warm-up. */
export async function interleave<T>(
  rounds: number,
  programs: readonly (() => Promise<T>)[],
): Promise<readonly (readonly T[])[]> {
  const samples = programs.map((): T[] => []);
  for (let round = -1; round < rounds; round += 1) {
    for (const [at, program] of programs.entries()) {
      const sample = await program();
      if (round >= 0) samples[at]?.push(sample);
    }
  }
  return samples;
}
