/** Taking ignored paths over from a copy. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeOver } from "../../../src/workspace/effects/take-over.ts";
import { openFolder, p } from "../folder.ts";

test("a signal is heard between thousands of files, and what was taken until then is reported", async () => {
  // In memory where there is such a place: some disks take seconds to make these files.
  using at = openFolder("memory");
  using layer = openFolder("memory");
  const count = 20_000;
  for (const folder of [join(at.path, "build"), join(layer.path, "build")]) mkdirSync(folder);
  for (let index = 0; index < count; index += 1) writeFileSync(join(layer.path, "build", `${index}`), "");
  const aborter = new AbortController();
  const made = new Set([p("build")]);
  const done = takeOver({ root: at.root, upper: layer.path, made }, [p("build")], aborter.signal);
  await Bun.sleep(1);
  aborter.abort();
  expect(await done).toEqual([p("build")]);
  const there = readdirSync(join(at.path, "build")).length;
  expect([there > 0, there < count]).toEqual([true, true]);
});
