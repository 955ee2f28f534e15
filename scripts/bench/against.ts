/** Compares pai with another binary of it, in interleaved rounds: `bun run bench --against PATH [ROUNDS]`. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { prepareDiff } from "./diff.ts";
import { type Bench, runOnce, runTask, type Sample } from "./run.ts";
import { bridges, megabyte, runStream } from "./stream.ts";

interface Measure {
  readonly name: string;
  readonly run: (bench: Bench) => Promise<Sample>;
}

const start =
  (...words: readonly string[]) =>
  ({ pai, place }: Bench) =>
    runOnce([pai, ...words], place, { PATH: "/usr/bin:/bin", HOME: `${place}/home` });

const diffs = new WeakMap<Bench, () => Promise<Sample>>();
/** Each of both binaries makes the change that it shows itself: the other may keep it in another form. */
async function showDiff(bench: Bench): Promise<Sample> {
  const show = diffs.get(bench) ?? (await prepareDiff(bench, 50));
  diffs.set(bench, show);
  return show();
}

const measures: readonly Measure[] = [
  { name: "--version", run: start("--version") },
  { name: "--help", run: start("--help") },
  { name: "task of two calls", run: (bench) => runTask(bench, "small", 1) },
  { name: "task of four calls", run: (bench) => runTask(bench, "small", 3) },
  { name: "diff of 500 lines", run: showDiff },
  ...bridges.map((bridge) => ({
    name: `a megabyte of ${bridge}`,
    run: (bench: Bench) => runStream(bench, bridge, megabyte),
  })),
];

const nameWidth = 40;

/** A copied binary with its bench. */
interface Copied {
  readonly from: string;
  readonly bench: Bench;
}

/** The mean of the smallest quarter of the values, which other work of the machine affects least. */
function quiet(values: readonly number[]): number {
  const least = values.toSorted((a, b) => a - b).slice(0, Math.max(1, Math.floor(values.length / 4)));
  return least.reduce((sum, value) => sum + value, 0) / least.length;
}

function render(name: string, unit: string, ours: readonly number[], theirs: readonly number[]): string {
  const [here, there] = [quiet(ours), quiet(theirs)];
  const change = ((here / there - 1) * 100).toFixed(1);
  const sign = here >= there ? "+" : "";
  return `${name.padEnd(nameWidth)} ${here.toFixed(2).padStart(8)} ${there.toFixed(2).padStart(8)} ${unit}  ${sign}${change} %`;
}

/**
 * Both binaries are copies, which are made again after this many rounds: a program starts up to 10 % slower from a copy
 * than from the file that its linker wrote, and two copies of one file differ by up to 5 %.
 */
const roundsOfCopy = 5;

/** By another process: memory of the bench would count as pai's. */
function copyAgain({ from, bench }: Copied): void {
  rmSync(bench.pai, { force: true });
  const copied = spawnSync("cp", ["--", from, bench.pai]);
  if (copied.status !== 0) throw new Error(`cp: ${copied.stderr}`);
}

/**
 * Runs both binaries once in each round, alternating which is first, so that a busy moment affects both. The first
 * round of a copy is only a warm-up.
 */
async function interleave({ run }: Measure, here: Copied, there: Copied, rounds: number) {
  const samples = { here: [] as Sample[], there: [] as Sample[] };
  for (let round = 0; round < rounds; round += 1) {
    if (round % roundsOfCopy === 0) {
      const isEven = (round / roundsOfCopy) % 2 === 0;
      for (const side of isEven ? [here, there] : [there, here]) {
        copyAgain(side);
        await run(side.bench);
      }
    }
    const sides = [{ ...here, into: samples.here } as const, { ...there, into: samples.there } as const];
    for (const { bench, into } of round % 2 === 0 ? sides : sides.toReversed()) {
      const sample = await run(bench);
      into.push(sample);
    }
  }
  return samples;
}

/** One line for each figure: this binary, the other one, and the difference. */
export async function compareWith(other: string, bench: Bench, rounds: number): Promise<readonly string[]> {
  const lines = [`${"".padEnd(nameWidth)} ${"here".padStart(8)} ${"there".padStart(8)}`];
  const here: Copied = { from: bench.pai, bench: { ...bench, pai: join(bench.place, "here") } };
  const there: Copied = { from: other, bench: { ...bench, pai: join(bench.place, "there"), next: 1_000_000 } };
  for (const measure of measures) {
    const samples = await interleave(measure, here, there, rounds);
    const add = (figure: string, unit: string, of: (sample: Sample) => number) =>
      lines.push(render(`${measure.name}, ${figure}`, unit, samples.here.map(of), samples.there.map(of)));
    add("processor time", "ms", ({ cpu }) => cpu);
    add("wall time", "ms", ({ wall }) => wall);
    if (![...samples.here, ...samples.there].some(({ peak }) => Number.isNaN(peak)))
      add("peak memory", "MB", ({ peak }) => peak);
  }
  return lines;
}
