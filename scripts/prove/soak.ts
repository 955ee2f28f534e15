/** Proves that pai holds out: `prove.ts soak [runs]` many runs of one project, runs at once, and kills; figures for each. */
import { openPlace } from "../../test/transcript/harness.ts";
import { done, planned, write } from "../../test/transcript/replies.ts";

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const task = (at: number) => [planned([["WRITE", `f${at % 50}.txt`]]), done(write(`f${at % 50}.txt`, `${at}\n`))];

/** One run after another: the last must cost what the first did. */
async function proveMany(runs: number): Promise<void> {
  await using place = openPlace(Array.from({ length: runs }, (_, at) => task(at)).flat());
  const times: number[] = [];
  for (let at = 0; at < runs; at += 1) {
    const started = performance.now();
    const { code } = await place.pai(["run", "-y", "--no-plan-cache", "--mode", "single-shot", `task ${at}`]);
    if (code !== 0 && at < 50) throw new Error(`run ${at} ended ${code}`);
    times.push(performance.now() - started);
  }
  const part = Math.max(10, Math.floor(runs / 20));
  const [first, last] = [median(times.slice(0, part)), median(times.slice(-part))];
  console.log(`${runs} runs: median ${Math.round(first)} ms of the first ${part}, ${Math.round(last)} ms of the last`);
}

/** Runs that are killed at random: the next start takes each back whole. */
async function proveKills(rounds: number): Promise<void> {
  let between = 0;
  for (let at = 0; at < rounds; at += 1) {
    const files = Array.from({ length: 12 }, (_, n) => ["WRITE", `k${n}.txt`] as const);
    const body = files.map(([, path]) => write(path, "x\n")).join("");
    await using place = openPlace([planned(files), done(body)]);
    const running = place.start(["run", "-y", "make twelve"]);
    await place.gemini.arrived(2);
    await Bun.sleep(at % 40);
    running.kill("SIGKILL");
    await running.done;
    await place.pai(["history"]);
    const count = Object.keys(place.tree()).length;
    if (count !== 0 && count !== 12) between += 1;
  }
  console.log(`${rounds} runs killed: ${between} left in between`);
  if (between > 0) throw new Error("a killed run was left half done");
}

export async function prove(args: readonly string[]): Promise<void> {
  const runs = Number(args[0] ?? "200");
  await proveMany(runs);
  await proveKills(Math.max(10, Math.floor(runs / 10)));
}
