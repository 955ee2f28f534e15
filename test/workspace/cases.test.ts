/** Every attack on paths, names, links and special objects, through every action, as root and as others, also while folders are swapped for links. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { groundsEnv, newFolder } from "../grounds.ts";
import { needs, otherUser } from "../needs.ts";
import { type Count, countAll } from "./attack/count.ts";
import { race } from "./attack/race.ts";
import { here } from "./sandbox/here.ts";

/** All must hold; and most are refused, as a layout that could not be built would be no attack. */
function judge({ tried, refused, faults }: Count): void {
  expect(faults).toEqual([]);
  expect(tried).toBeGreaterThan(1000);
  expect(refused).toBeGreaterThan(tried / 2);
}

test.concurrent("are withstood", async () => {
  judge(await countAll());
});

/** The attacks as one program in a folder that every user can enter: the checkout may be closed to others. */
function buildCounter(folder: string): string {
  chmodSync(folder, 0o755);
  const counter = join(folder, "count");
  const source = join(import.meta.dir, "../../src");
  const entries = [join(import.meta.dir, "attack/count.ts"), join(source, "workspace/search/worker.ts")];
  const args = ["build", "--compile", ...entries, "--root", source, "--outfile", counter];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`the attacks cannot be built: ${stderr}`);
  chmodSync(counter, 0o755);
  return counter;
}

needs(otherUser).test.concurrent("also for an ordinary user, whom the sandbox holds at the same level", async () => {
  const folder = newFolder("disk", "cases");
  const user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"];
  const env = { PATH: "/usr/bin:/bin", ...groundsEnv() };
  const child = Bun.spawn([...user, buildCounter(folder)], { cwd: "/", env, stdout: "pipe", stderr: "pipe" });
  const [said, complained] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  // A program of a hundred megabytes.
  rmSync(folder, { recursive: true });
  expect(complained).toBe("");
  const { sandbox, ...count } = JSON.parse(said);
  judge(count);
  expect([sandbox.level, sandbox.proposes]).toEqual([here.level, here.proposes]);
});

const short = { reads: 20_000, writes: 2_000, ms: 900 };

test("pai reads and writes nothing behind a swapped folder", async () => {
  const done = { reads: 0, writes: 0, refused: 0 };
  const isEnough = () => done.reads > 100 && done.writes > 10 && done.refused > 10;
  for (let tries = 0; tries < 20 && !isEnough(); tries += 1) {
    const { readEscapes, writeEscapes, ...more } = await race("pai", short);
    expect([readEscapes, writeEscapes]).toEqual([0, 0]);
    for (const each of ["reads", "writes", "refused"] as const) done[each] += more[each];
  }
  expect([done, isEnough()]).toEqual([done, true]);
});
