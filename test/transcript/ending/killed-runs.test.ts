/** Killed runs are taken back by the next start, elsewhere too; a run that goes on is left alone. */
import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "../../../src/core/outcome.ts";
import { needs } from "../../needs.ts";
import { openPlace, type Place } from "../harness.ts";
import { done, modify, planned, write } from "../replies.ts";

/** Starts a command with a process table of its own, as a container has; all of it ends with the first process. */
const container = "unshare --user --map-root-user --pid --fork --mount-proc --kill-child=KILL";
const inContainers = needs({
  name: "containers of one's own",
  isHere: Bun.spawnSync(["/bin/sh", "-c", `${container} true`]).exitCode === 0,
}).test;
/** Its processes see another boot id, as those of another machine do. */
const machine = (bootId: string, script: string) =>
  `${container} --mount /bin/sh -c 'mount --bind ${bootId} /proc/sys/kernel/random/boot_id && ${script}'`;

const files = { "z.txt": "old\n" };
const answers = [planned(["MODIFY z.txt"]), done(modify("z.txt", "old\n", "new\n"))];

async function startRun(place: Place, wrap: (script: string) => string) {
  writeFileSync(join(place.spare, "check"), "touch ../spare/ready; while [ ! -e ../spare/go ]; do sleep 0.1; done");
  const run = place.startShell(
    wrap(`exec $PAI run -y --json --no-baseline --sandbox off --check "sh ../spare/check" task`),
  );
  while (!existsSync(join(place.spare, "ready"))) await Bun.sleep(20);
  return run;
}

inContainers("the run of a killed container is taken back by the next start on the host", async () => {
  await using place = openPlace(answers, files);
  const run = await startRun(place, (script) => `exec ${container} /bin/sh -c '${script}'`);
  run.kill("SIGKILL");
  await run.done;
  const { stderr } = await place.pai(["history"]);
  expect(stderr).toContain("was cut off and was taken back");
  expect(place.tree()).toEqual(files);
  expect((await place.pai(["undo", "-y"])).stderr).toContain("nothing to undo");
});

inContainers("a run that goes on in another container or machine is not taken back", async () => {
  for (const isMachine of [false, true]) {
    await using place = openPlace(answers, files);
    writeFileSync(join(place.spare, "boot_id"), "11111111-2222-3333-4444-555555555555\n");
    const run = await startRun(place, (script) =>
      isMachine ? machine(join(place.spare, "boot_id"), script) : `${container} /bin/sh -c '${script}'`,
    );
    expect((await place.pai(["history"])).stderr).toBe("");
    expect(place.read("z.txt")).toBe("new\n");
    writeFileSync(join(place.spare, "go"), "");
    const outcome = JSON.parse((await run.done).stdout) as Outcome;
    expect([outcome.code, outcome.status, outcome.changes.length]).toEqual([0, "verified", 1]);
    expect((await place.pai(["undo", "-y"])).code).toBe(0);
    expect(place.tree()).toEqual(files);
  }
});

test("a run whose work somebody took back before it ended is no success", async () => {
  await using place = openPlace(answers, files);
  const run = await startRun(place, (script) => script);
  writeFileSync(join(place.root, "z.txt"), files["z.txt"]);
  writeFileSync(join(place.spare, "go"), "");
  const outcome = JSON.parse((await run.done).stdout) as Outcome;
  expect([outcome.code, outcome.status, outcome.error?.code]).toEqual([11, "failed", "conflict"]);
  expect(place.tree()).toEqual(files);
});

test.concurrent("undo brings nothing of a killed run back (R51)", async () => {
  const first = [planned(["WRITE first.txt"]), done(write("first.txt", "1\n"))];
  await using place = openPlace([...first, ...answers], files);
  await place.pai(["run", "-y", "make first.txt"]);
  const run = await startRun(place, (script) => script);
  run.kill("SIGKILL");
  await run.done;
  expect((await place.pai(["history"])).stderr).toContain("was cut off and was taken back");
  expect(place.tree()).toEqual({ "first.txt": "1\n", ...files });
  await place.pai(["undo", "-y"]);
  expect(place.tree()).toEqual(files);
  expect((await place.pai(["undo", "-y"])).code).not.toBe(0);
  expect(place.tree()).toEqual(files);
});
