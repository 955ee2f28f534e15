/** Several runs of one project that were killed: each is taken back, and none is made the work of another. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openPlace } from "../harness.ts";
import { done, modify, planned, write } from "../replies.ts";

test.concurrent("after two killed runs undo brings nothing of them back (R51)", async () => {
  await using place = openPlace(
    [
      planned([["WRITE", "first.txt"]]),
      done(write("first.txt", "1\n")),
      planned([["MODIFY", "z.txt"]]),
      done(modify("z.txt", "old\n", "killed\n")),
      planned([["WRITE", "b.txt"]]),
      done(write("b.txt", "b\n")),
    ],
    { "z.txt": "old\n" },
  );
  await place.pai(["run", "-y", "make first.txt"]);
  const start = async (task: string, mark: string) => {
    const check = `touch ../spare/${mark}; sleep 100`;
    const run = place.start(["run", "-y", "--no-baseline", "--sandbox", "off", "--check", check, task]);
    while (!existsSync(join(place.spare, mark))) await Bun.sleep(20);
    await Bun.sleep(300);
    return run;
  };
  const [one, two] = [await start("change z.txt", "one"), await start("make b.txt", "two")];
  for (const run of [one, two]) run.kill("SIGKILL");
  await Promise.all([one.done, two.done]);
  const { stderr } = await place.pai(["history"]);
  expect(place.tree()).toEqual({ "first.txt": "1\n", "z.txt": "old\n" });
  expect(stderr.match(/was cut off and was taken back/g)?.length).toBe(2);
  expect(stderr).not.toContain("b.txt");
  await place.pai(["undo", "-y"]);
  expect(place.tree()).toEqual({ "z.txt": "old\n" });
  expect((await place.pai(["undo", "-y"])).code).not.toBe(0);
  expect(place.tree()).toEqual({ "z.txt": "old\n" });
});
