/** Large files that a command makes are judged, shown and applied in steps: a signal waits for none of them. */
import { expect } from "bun:test";
import { expectPrompt } from "../../core/cpu-time.ts";
import { needs } from "../../needs.ts";
import { copies } from "../../workspace/sandbox/here.ts";
import { finish, plan } from "../plans.ts";
import { play } from "../scripted.ts";

const onCopies = needs(copies).test;
const make = "seq 1 600000 >one; for n in 1 2 3 4 5 6 7 8 9 10; do cp one large$n.txt; done; rm one";
const lines = [plan({ steps: [`RUN ${make}`] }), finish(), finish()];

/** Runs it and returns the longest time, in milliseconds, in which nobody else had a turn. */
async function watch<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
  let [last, worst] = [performance.now(), 0];
  const timer = setInterval(() => {
    worst = Math.max(worst, performance.now() - last);
    last = performance.now();
  }, 5);
  try {
    return [await work(), worst];
  } finally {
    clearInterval(timer);
  }
}

onCopies("ten files of 4 MB hold nobody up, and their content is not in the diff", async () => {
  await expectPrompt(1000, async () => {
    const [ran, worst] = await watch(() => play({ lines, options: { allowRun: true } }));
    expect(ran.outcome).toMatchObject({ code: 0, status: "unverified" });
    expect(ran.outcome.changes.map(({ added }) => added)).toEqual(Array.from({ length: 10 }, () => 600_000));
    expect(ran.outcome.diff.length).toBeLessThan(10_000);
    expect(ran.outcome.diff).toContain("Binary files /dev/null and b/large1.txt differ\n");
    return worst;
  });
});
