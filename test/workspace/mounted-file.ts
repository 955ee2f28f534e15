/**
 * Changes a file that is written where it is, dies at each effect, and takes it back: as `mount` in a mount namespace, on a
 * file that is mounted by itself; as `group` by a user who is not in the group of the file.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { toPaiError } from "../../src/core/error.ts";
import { openDisk } from "../../src/workspace/system/disk.ts";
import { change, deadProcess, file, openPlace, type Place, treeOf } from "./tree.ts";

const [base = "", how = "mount"] = process.argv.slice(2);
const place: Place = { base, work: join(base, "work"), state: join(base, "state"), remove: () => {} };
const isMount = how === "mount";
const hosts = join(place.work, "hosts");
const real = isMount ? join(base, "real") : hosts;
const [before, after] = ["127.0.0.1 localhost\n", "10.0.0.7 db\n127.0.0.1 localhost\n"];
const wrong: string[] = [];
const expectEqual = (what: string, now: unknown, wanted: unknown) => {
  if (!Bun.deepEquals(now, wanted)) wrong.push(`${what}: ${JSON.stringify(now)}`);
};

mkdirSync(place.work, { recursive: true });
writeFileSync(real, before);
writeFileSync(join(place.work, "other"), "a");
if (isMount) {
  writeFileSync(hosts, "");
  if (spawnSync("mount", ["--bind", real, hosts]).status !== 0) throw new Error("mount");
}
const start = treeOf(place.work);
const both = [change("hosts", file(before), file(after, 0o600)), change("other", file("a"), file("b"))] as const;

const opened = openPlace(place);
const { ino: inode, gid } = statSync(hosts);
const run = opened.begin("whole");
await run.apply(both);
expectEqual(
  "changed",
  [readFileSync(real, "utf8"), statSync(real).mode & 0o777, statSync(hosts).ino, statSync(hosts).gid],
  [after, 0o600, inode, gid],
);
expectEqual("taken back", [(await run.rollback()).left, treeOf(place.work)], [[], start]);

if (isMount) {
  const removal = openPlace(place).begin("removal");
  const refused = await removal.apply([change("hosts", file(before), null)]).catch(toPaiError);
  expectEqual("removal", refused?.message, "hosts cannot be written: it is mounted there by itself");
  await removal.rollback();
}

for (let n = 0, isDone = false; !isDone; n++) {
  let [effects, last] = [0, ""];
  const disk = openDisk((effect) => {
    if (effects++ >= n) throw new Error("the process is dead");
    last = effect;
  });
  const dying = openPlace(place, disk, deadProcess());
  const apply = dying.begin(`run${n}`).apply(both);
  isDone = await apply.then(
    () => true,
    () => false,
  );
  // A power cut leaves a part of the new bytes, and the old ones behind them.
  if (last === "overwrite file") writeFileSync(real, after.slice(0, 3) + before.slice(3, 9));
  dying.root.close();
  await openPlace(place).recover();
  expectEqual(`dead at ${n}`, treeOf(place.work), start);
  rmSync(place.state, { recursive: true, force: true });
}
writeSync(1, JSON.stringify(wrong));
