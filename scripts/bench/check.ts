/** Measures what checks add to a run in a folder of 100,000 files, which are looked at before and after each. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ContextRow } from "./context.ts";
import { type Bench, envOf, runOnce } from "./run.ts";
import { makeFolder, repliesFor, requestFor, resetSource } from "./task.ts";

const [folders, filesEach] = [200, 500];
/** Milliseconds that one check may add. */
const limit = 1500;

const kinds = {
  none: [],
  one: ["--no-baseline", "--check", "true"],
  two: ["--no-baseline", "--check", "true", "--check", "true # again"],
} as const;
type Kind = keyof typeof kinds;

function makeHugeFolder(root: string): void {
  makeFolder(root, "small");
  for (let at = 0; at < folders; at += 1) {
    mkdirSync(join(root, `data_${at}`));
    for (let file = 0; file < filesEach; file += 1) writeFileSync(join(root, `data_${at}/${file}.txt`), "x\n");
  }
}

export async function measureCheck(bench: Bench, rounds: number): Promise<readonly ContextRow[]> {
  const root = join(bench.place, "huge");
  makeHugeFolder(root);
  const walls: Record<Kind, number[]> = { none: [], one: [], two: [] };
  const run = async (kind: Kind) => {
    resetSource(root);
    bench.next += 1;
    bench.server.play(repliesFor("small", 1));
    const command = [bench.pai, "run", "-y", ...kinds[kind], requestFor(bench.next)];
    return (await runOnce(command, root, envOf(bench))).wall;
  };
  for (let round = -1; round < rounds; round += 1) {
    for (const kind of ["none", "one", "two"] as const) {
      const wall = await run(kind);
      if (round >= 0) walls[kind].push(wall);
    }
  }
  rmSync(root, { recursive: true });
  const over = (kind: Kind, base: Kind) => walls[kind].map((wall) => wall - Math.min(...walls[base]));
  return [
    { measure: "100,000 files: a check adds", values: over("one", "none"), limit, unit: " ms" },
    { measure: "  a second check", values: over("two", "one"), limit, unit: " ms" },
  ];
}
