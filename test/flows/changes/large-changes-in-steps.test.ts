/** Large changes come in steps; what is moved may be written. */
import { expect, test } from "bun:test";
import { expectPrompt } from "../../core/cpu-time.ts";
import { needs } from "../../needs.ts";
import { copies } from "../../workspace/sandbox/here.ts";
import { finish, planTo } from "../plans.ts";
import { play } from "../scripted.ts";

const onCopies = needs(copies).test;
const make = "seq 1 600000 >one; for n in 1 2 3 4; do cp one large$n.txt; done; rm one";
const lines = [planTo(`RUN ${make}`), finish(), finish()];

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

onCopies("four files of 4 MB hold nobody up, and their content is not in the diff", async () => {
  await expectPrompt(1000, async () => {
    const [ran, worst] = await watch(() => play({ lines, options: { allowRun: true } }));
    expect(ran.outcome).toMatchObject({ code: 0, status: "unverified" });
    expect(ran.outcome.changes.map(({ added }) => added)).toEqual(Array.from({ length: 4 }, () => 600_000));
    expect(ran.outcome.diff.length).toBeLessThan(10_000);
    expect(ran.outcome.diff).toContain("Binary files /dev/null and b/large1.txt differ\n");
    return worst;
  });
});

test.each([
  [20, "written"],
  [4000, "refused"],
])("a file of %i lines that is moved, then replaced: %s", async (count, how) => {
  const old = Array.from({ length: count }, (_, at) => `${at} 3 * * * /usr/local/bin/backup --number ${at}\n`).join("");
  const fresh = old.replaceAll("* * * /", "* * * root /");
  const script = `MV::job.txt::jobs/job\nWRITE::jobs/job::EOT\n${fresh}END::EOT\n${finish()}`;
  const lines = [planTo("MV job.txt -> jobs/job", "MODIFY jobs/job"), script, finish(), finish()];
  const ran = await play({ files: { "job.txt": old }, lines });
  expect(ran.files["jobs/job"] === fresh).toBe(how === "written");
});
