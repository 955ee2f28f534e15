/** Kills a commit of twelve files at random moments, and every third recovery too: `prove.ts kill [runs] [folder]`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bothEnds, describe, recoverHere, startCommitter, type Work } from "../../test/workspace/cut.ts";
import type { Place } from "../../test/workspace/tree.ts";
import { renewTwelve } from "../../test/workspace/twelve.ts";

export async function prove(args: readonly string[]): Promise<void> {
  const runs = Number(args[0] ?? 1000);
  const base = mkdtempSync(join(args[1] ?? tmpdir(), "pai-prove-"));
  const place: Place = { base, work: join(base, "work"), state: join(base, "state"), remove: () => {} };
  const ends = await bothEnds(place);
  const counts = { before: 0, after: 0, torn: 0, recoveriesKilled: 0 };

  /** Duration of an undisturbed commit. */
  const measure = async (): Promise<number> => {
    const child = await startCommitter(place, "commit");
    const start = performance.now();
    child.go();
    await child.end();
    renewTwelve(place);
    return performance.now() - start;
  };
  const longest = 1.2 * Math.min(await measure(), await measure(), await measure());

  /** Kills the work; returns whether it was still going on. */
  const killed = async (work: Work): Promise<boolean> => {
    const child = await startCommitter(place, work);
    child.go();
    const timer = setTimeout(child.kill, Math.random() * longest);
    const said = await child.end();
    clearTimeout(timer);
    return said === "";
  };

  for (let run = 0; run < runs; run++) {
    renewTwelve(place);
    await killed("commit");
    const now = describe(place);
    if (now !== ends.before && now !== ends.after) counts.torn++;
    if (run % 3 === 0 && (await killed("recover"))) counts.recoveriesKilled++;
    counts[await recoverHere(place, ends)]++;
  }
  rmSync(base, { recursive: true });
  console.log(`${runs} commits of 12 files killed at random moments within ${longest.toFixed(0)} ms`);
  console.log(`found in between when killed: ${counts.torn}; recoveries killed too: ${counts.recoveriesKilled}`);
  console.log(`after the next start: before ${counts.before}, after ${counts.after}, between 0, stray files 0`);
}
