/** A wait with a limit ends with the work, and leaves nothing that keeps the process from ending. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { waitAtMost } from "../../src/core/steps.ts";

test("it ends with the work, or at the limit", async () => {
  await waitAtMost(Promise.resolve(), 600_000);
  await waitAtMost(new Promise(() => {}), 1);
});

test("a process whose work is done does not wait for the limit", () => {
  const steps = join(import.meta.dir, "../../src/core/steps.ts");
  const code = `import { waitAtMost } from ${JSON.stringify(steps)}; await waitAtMost(Promise.resolve(), 600_000);`;
  const { exitCode } = Bun.spawnSync([process.execPath, "-e", code], { timeout: 60_000 });
  expect(exitCode).toBe(0);
});
