/** Proves that pai holds out: `prove.ts soak [runs]` many runs of one project, and a session of three times as many tasks. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openPlace, type Place } from "../../test/transcript/harness.ts";
import { holdSession } from "../../test/transcript/long-session.ts";
import { done, modify, planned } from "../../test/transcript/replies.ts";

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const task = (at: number) => [planned(["MODIFY count.txt"]), done(modify("count.txt", `${at}\n`, `${at + 1}\n`))];

const newPlace = (runs: number) =>
  openPlace(Array.from({ length: runs }, (_, at) => task(at)).flat(), { "count.txt": "0\n" });

/** Runs pai once; returns milliseconds. */
async function timeRun(place: Place, at: number): Promise<number> {
  const started = performance.now();
  const { code, stderr } = await place.pai(["run", "-y", "--mode", "single-shot", `task ${at}`]);
  if (code !== 0) throw new Error(`run ${at} ended ${code}: ${stderr}`);
  return performance.now() - started;
}

const compared = 40;

/** Compares the last of many runs with the first runs of another project, in turns, as the machine may be busy. */
async function proveMany(runs: number): Promise<void> {
  await using old = newPlace(runs + compared);
  await using young = newPlace(compared);
  for (let at = 0; at < runs; at += 1) await timeRun(old, at);
  const times: { readonly old: number[]; readonly young: number[] } = { old: [], young: [] };
  for (let at = 0; at < compared; at += 1) {
    times.young.push(await timeRun(young, at));
    times.old.push(await timeRun(old, runs + at));
  }
  if (old.read("count.txt") !== `${runs + compared}\n`) throw new Error("a run was lost");
  const [first, last] = [median(times.young), median(times.old)];
  const logs = readdirSync(join(old.root, ".pai_history")).length;
  console.log(
    `${runs} runs: median ${first.toFixed(1)} ms of runs 1 to ${compared}, ${last.toFixed(1)} ms of those after run ${runs}; ${logs} files in .pai_history`,
  );
}

/** Largest ratio of a task's processor time at the end of a session to that near its start. */
const maxGrowth = 1.3;

/** One session with many tasks: memory and processor time by task. */
async function proveSession(tasks: number): Promise<void> {
  let before = 0;
  const times: number[] = [];
  for (const { task, memory, cpu } of await holdSession(tasks, Math.max(1, Math.floor(tasks / 12)))) {
    const each = cpu / (task - before);
    console.log(
      `task ${task} of a session: ${memory} MiB, ${each.toFixed(1)} ms of processor time for each task since`,
    );
    times.push(each);
    before = task;
  }
  // Without the very first tasks, which include compilation.
  const [early, late] = [median(times.slice(2, 5)), median(times.slice(-3))];
  if (tasks >= 600 && late > maxGrowth * early)
    throw new Error(
      `a task takes ${late.toFixed(1)} ms of processor time at the end, ${early.toFixed(1)} ms near the start`,
    );
}

export async function prove([count = "200"]: readonly string[]): Promise<void> {
  const runs = Number(count);
  await proveMany(runs);
  if (Bun.which("tmux") !== null) await proveSession(Math.max(12, 3 * runs));
}
