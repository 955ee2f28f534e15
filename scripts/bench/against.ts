/** pai beside another binary of it, in interleaved rounds: `bun run bench --against PATH [ROUNDS]`. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, runOnce, runTask, type Sample } from "./run.ts";

interface Measure {
  readonly name: string;
  readonly run: (bench: Bench) => Promise<Sample>;
}

const start =
  (...words: readonly string[]) =>
  ({ pai, place }: Bench) =>
    runOnce([pai, ...words], place, { PATH: "/usr/bin:/bin", HOME: `${place}/home` });

const measures: readonly Measure[] = [
  { name: "--version", run: start("--version") },
  { name: "--help", run: start("--help") },
  { name: "task of two calls", run: (bench) => runTask(bench, "small", 1) },
];

/** The mean of the quarter that took least: the machine's other work falls on the rest. */
function quiet(values: readonly number[]): number {
  const least = values.toSorted((a, b) => a - b).slice(0, Math.max(1, Math.floor(values.length / 4)));
  return least.reduce((sum, value) => sum + value, 0) / least.length;
}

function render(name: string, unit: string, ours: readonly number[], theirs: readonly number[]): string {
  const [here, there] = [quiet(ours), quiet(theirs)];
  const change = ((here / there - 1) * 100).toFixed(1);
  const sign = here >= there ? "+" : "";
  return `${name.padEnd(34)} ${here.toFixed(2).padStart(8)} ${there.toFixed(2).padStart(8)} ${unit}  ${sign}${change} %`;
}

/** Runs both binaries once a round, in turn first, so that a busy moment falls on both. The first round only warms up. */
async function interleave({ run }: Measure, here: Bench, there: Bench, rounds: number) {
  const samples = { here: [] as Sample[], there: [] as Sample[] };
  for (let round = 0; round <= rounds; round += 1) {
    const sides = [{ bench: here, into: samples.here } as const, { bench: there, into: samples.there } as const];
    for (const { bench, into } of round % 2 === 0 ? sides : sides.toReversed()) {
      const sample = await run(bench);
      if (round > 0) into.push(sample);
    }
  }
  return samples;
}

/** A line for each figure: here, there, and by how much they differ. */
export async function compareWith(other: string, bench: Bench, rounds: number): Promise<readonly string[]> {
  const lines = [`${"".padEnd(34)} ${"here".padStart(8)} ${"there".padStart(8)}`];
  // Beside ours, so that both are read from one file system.
  const pai = join(bench.place, "other");
  copyFileSync(other, pai);
  const there: Bench = { ...bench, pai, next: 1_000_000 };
  for (const measure of measures) {
    const samples = await interleave(measure, bench, there, rounds);
    const add = (figure: string, unit: string, of: (sample: Sample) => number) =>
      lines.push(render(`${measure.name}, ${figure}`, unit, samples.here.map(of), samples.there.map(of)));
    add("processor time", "ms", ({ cpu }) => cpu);
    add("wall time", "ms", ({ wall }) => wall);
    add("peak memory", "MB", ({ peak }) => peak);
  }
  return lines;
}
