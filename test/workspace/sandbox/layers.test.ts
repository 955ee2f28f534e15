/** Clearing away what commands left, also while one of them still lives. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { removeTree } from "../../../src/workspace/sandbox/layers.ts";
import { makePlace } from "../tree.ts";

test("a process that swaps folders for links while they are removed does not lead pai out of them", async () => {
  const place = makePlace();
  const victim = join(place.work, "victim");
  for (let index = 0; index < 100; index += 1) mkdirSync(join(victim, `of-the-user-${index}`), { recursive: true });
  for (let round = 0; round < 10; round += 1) {
    const top = join(place.work, `left-${round}`);
    const deep = join(top, ...Array.from({ length: 31 }, () => "d"));
    mkdirSync(deep, { recursive: true });
    for (let index = 0; index < 40; index += 1) {
      mkdirSync(join(deep, `f${index}`));
      symlinkSync(victim, join(deep, `l${index}`));
    }
    const swapper = Bun.spawn([process.execPath, join(import.meta.dir, "swap-folders.ts"), deep], { stdout: "pipe" });
    await swapper.stdout.getReader().read();
    try {
      removeTree(top);
    } catch {
      // What changes its kind in the very moment stays for the next time.
    }
    swapper.kill();
    await swapper.exited;
    removeTree(top);
    expect(existsSync(top)).toBe(false);
  }
  expect(readdirSync(victim)).toHaveLength(100);
});
