/** Races pai against a process that swaps folders for links: `prove.ts race [reads writes]`, by default 1000000 100000. */
import { race } from "../../test/workspace/attack/race.ts";

const longestMs = 30 * 60 * 1000;

/** Throws when a read or write of pai escapes. */
export async function prove([reads = "1000000", writes = "100000"]: readonly string[]): Promise<void> {
  const effort = { reads: Number(reads), writes: Number(writes), ms: longestMs };
  console.log("who | reads | escaped | writes | escaped | refused in time | s");
  for (const who of ["naive", "pai"] as const) {
    const start = performance.now();
    const short = { reads: effort.reads / 10, writes: effort.writes / 10, ms: longestMs };
    const it = await race(who, who === "naive" ? short : effort);
    const seconds = Math.round((performance.now() - start) / 1000);
    console.log([who, it.reads, it.readEscapes, it.writes, it.writeEscapes, it.refused, seconds].join(" | "));
    if (who === "pai" && it.readEscapes + it.writeEscapes > 0) throw new Error("pai was raced");
  }
}
