/** Counting the processes of a command, where its user has no limit of them. */
import { expect, test } from "bun:test";
import { watchCount } from "../../src/workspace/command/process-count.ts";

test("a command with more processes than it may have is noticed, one with fewer is not", async () => {
  const told: string[] = [];
  const run = async (name: string, processes: number) => {
    const before = told.length;
    const child = Bun.spawn(["sh", "-c", `for n in $(seq ${processes}); do sleep 5 & done; wait`], { detached: true });
    const end = watchCount(child.pid, 40, () => told.push(name));
    const until = performance.now() + (processes > 40 ? 5000 : 500);
    while (performance.now() < until && told.length === before) await Bun.sleep(20);
    end();
    process.kill(-child.pid, "SIGKILL");
    await child.exited;
  };
  await run("few", 10);
  await run("many", 80);
  expect(told).toEqual(["many"]);
});
