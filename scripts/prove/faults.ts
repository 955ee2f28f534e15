/** Makes each system call of a commit and a recovery fail or kill: `prove.ts faults [every n-th] [folder]`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bothEnds, describe, type Fixture, recoverHere, type Work } from "../../test/workspace/cut.ts";
import { countCalls, inject, pointsOf } from "../../test/workspace/inject.ts";
import { deadProcess, dyingDisk, openPlace, type Place } from "../../test/workspace/tree.ts";
import { changeTwelve, renewTwelve } from "../../test/workspace/twelve.ts";

/** Number of disk effects before the crash that a recovery handles: during staging, naming, dropping. */
const crashes = [14, 30, 46] as const;
interface Tally {
  calls: number;
  runs: number;
  before: number;
  after: number;
  /** Runs that reported a failure and had restored everything without a recovery. */
  backAtOnce: number;
  failed: number;
  /** Recoveries that left paths which they could not read, and named each of them. */
  told: number;
}

/** Whether every path that is not as before is named by what the recovery said. */
function isTold(place: Place, before: string, said: string): boolean {
  const then = new Set(before.split("\n"));
  const lines = describe(place).split("\n");
  const paths = lines.flatMap((line) => (then.has(line) ? [] : [/^ *"([^"]+)": /.exec(line)?.[1] ?? line]));
  return said.includes("left as they are") && paths.every((path) => said.includes(path));
}

/** `prepare` sets the place up for `work`. */
async function tryAll(place: Place, ends: Fixture, work: Work, prepare: () => Promise<void>, every: number) {
  await prepare();
  const calls = await countCalls(place, work);
  const tally: Tally = { calls: 0, runs: 0, before: 0, after: 0, backAtOnce: 0, failed: 0, told: 0 };
  for (const count of calls.values()) tally.calls += count;
  for (const point of pointsOf(calls, every)) {
    await prepare();
    const said = await inject(place, work, point);
    tally.runs++;
    if (said !== "" && !said.startsWith("done")) {
      tally.failed++;
      if (describe(place) === ends.before) tally.backAtOnce++;
    }
    const end = await recoverHere(place, ends).catch((thrown: unknown) => {
      if (work === "recover" && isTold(place, ends.before, said)) return "told" as const;
      throw new Error(`${work}: ${JSON.stringify(point)}, which said "${said}": ${thrown}`);
    });
    if (work === "commit" && said === "done" && end !== "after") throw new Error(`${JSON.stringify(point)}: lost`);
    tally[end]++;
  }
  return tally;
}

const show = ({ calls, runs, failed, backAtOnce, before, after, told }: Tally) =>
  `${calls} system calls, ${runs} faults; failed ${failed}, of these back at once ${backAtOnce}; after the next start: before ${before}, after ${after}, left and named ${told}, between 0, stray files 0`;

export async function prove(args: readonly string[]): Promise<void> {
  if (Bun.which("strace") === null) {
    console.log("skipped: strace is not installed");
    return;
  }
  const every = Number(args[0] ?? 1);
  const base = mkdtempSync(join(args[1] ?? tmpdir(), "pai-prove-"));
  const place: Place = { base, work: join(base, "work"), state: join(base, "state"), remove: () => {} };
  const ends = await bothEnds(place);
  const commit = await tryAll(place, ends, "commit", async () => renewTwelve(place), every);
  console.log(`commit of 12 files: ${show(commit)}`);
  for (const effects of crashes) {
    const crash = async () => {
      renewTwelve(place);
      const opened = openPlace(place, dyingDisk(effects).disk, deadProcess());
      await opened
        .begin("run")
        .apply(changeTwelve())
        .catch(() => {});
      opened.root.close();
    };
    const recovery = await tryAll(place, ends, "recover", crash, every);
    console.log(`recovery after ${effects} effects: ${show(recovery)}`);
  }
  rmSync(base, { recursive: true });
}
