/** Two pai increment a counter, then pai and an editor save one file: `prove.ts updates [times] [seconds]`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { toPaiError } from "../../src/core/error.ts";
import { type Disk, openDisk } from "../../src/workspace/system/disk.ts";
import { at, change, makePlace, openPlace } from "../../test/workspace/tree.ts";

const tests = join(import.meta.dir, "../../test/workspace");

async function countTogether(times: number): Promise<void> {
  const place = makePlace({ counter: "0" });
  const start = performance.now();
  const counters = [1, 2].map(() =>
    Bun.spawn([process.execPath, join(tests, "counter.ts"), place.base, `${times}`], { stdout: "pipe" }),
  );
  const results = await Promise.all(counters.map((child) => new Response(child.stdout).json()));
  const conflicts = results.map((result) => (result as { conflicts: number }).conflicts).reduce((a, b) => a + b);
  const lost = 2 * times - Number(readFileSync(join(place.work, "counter"), "utf8"));
  place.remove();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(
    `2 processes, ${times} read-modify-writes each: ${lost} lost, ${conflicts} refused and done again (${seconds} s)`,
  );
  if (lost !== 0) throw new Error("updates were lost");
}

/** pai appends to the file that the editor saves; an edit that is too late must be refused. */
async function saveTogether(disk: Disk, milliseconds: number) {
  const place = makePlace({ "shared.txt": "save 0\n" });
  const opened = openPlace(place, disk);
  const editor = Bun.spawn([process.execPath, join(tests, "editor.ts"), place.work, `${milliseconds}`], {
    stdout: "pipe",
  });
  let commits = 0;
  let conflicts = 0;
  let ended = false;
  const result = new Response(editor.stdout).json().finally(() => {
    ended = true;
  });
  while (!ended) {
    await Bun.sleep(0);
    try {
      const found = opened.root.readBytes(at("shared.txt"), 100_000);
      const line = Buffer.from(found?.bytes ?? [])
        .toString()
        .split("\n", 1)[0];
      if (found === null || line === "") continue;
      const bytes = new TextEncoder().encode(`${line}\npai ${commits}\n`);
      const { mode } = found.stat;
      const run = opened.begin(`run-${commits}-${conflicts}`);
      await run.apply([
        change("shared.txt", { kind: "file", bytes: found.bytes, mode }, { kind: "file", bytes, mode }),
      ]);
      await run.close();
      commits++;
    } catch (thrown) {
      if (!["conflict", "io_failed"].includes(toPaiError(thrown).code)) throw thrown;
      conflicts++;
    }
  }
  const copies = readdirSync(place.work).filter((name) => name.includes("conflict")).length;
  place.remove();
  return { ...((await result) as { saves: number; lost: number }), commits, conflicts, copies };
}

export async function prove(args: readonly string[]): Promise<void> {
  await countTogether(Number(args[0] ?? 2000));
  const milliseconds = 1000 * Number(args[1] ?? 20);
  const checked = await saveTogether({ ...openDisk(), exchange: () => false }, milliseconds);
  const proved = await saveTogether(openDisk(), milliseconds);
  const show = ({ saves, lost, commits, conflicts, copies }: typeof proved) =>
    `${lost} of ${saves} saves lost, ${commits} commits beside them, ${conflicts} refused, ${copies} kept as copies`;
  console.log(`an editor saving, control with check then rename: ${show(checked)}`);
  console.log(`an editor saving, pai: ${show(proved)}`);
  if (proved.lost > 0) throw new Error("a save was lost");
}
