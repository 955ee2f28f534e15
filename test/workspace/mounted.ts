/** A process in a mount namespace of its own: commits twelve files where there is no room, no inode, or no writing at all. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { toPaiError } from "../../src/core/error.ts";
import { openDisk } from "../../src/workspace/system/disk.ts";
import { bothEnds, describe, recoverHere } from "./cut.ts";
import { deadProcess, openPlace, type Place } from "./tree.ts";
import { changeTwelve, renewTwelve } from "./twelve.ts";

const [base = "", scarce = "space", where = "both"] = process.argv.slice(2);
const place: Place = { base, work: join(base, "work"), state: join(base, "state"), remove: () => {} };
const filler = join(base, "filler");
const block = 4096;

function mount(...args: string[]): void {
  const done = spawnSync("mount", args, { encoding: "utf8" });
  if (done.status !== 0) throw new Error(`mount: ${done.stderr}`);
}

/** Leaves `left` blocks, or files. */
function fill(left: number): void {
  mkdirSync(filler);
  const free = statfsSync(base);
  if (scarce === "space") writeFileSync(join(filler, "f"), Buffer.alloc(Math.max(0, free.bavail - left) * block));
  else for (let n = free.ffree - left; n > 0; n--) writeFileSync(join(filler, `f${n}`), "");
}

async function commit(): Promise<string> {
  const opened = openPlace(place, openDisk(), deadProcess());
  try {
    const run = opened.begin("run");
    await run.apply(changeTwelve());
    await run.close();
    return "done";
  } catch (thrown) {
    return toPaiError(thrown).code;
  } finally {
    opened.root.close();
  }
}

const said: Record<string, number> = {};
const wrong: string[] = [];

async function tryWith(left: number): Promise<void> {
  renewTwelve(place);
  fill(left);
  const code = await commit();
  said[code] = (said[code] ?? 0) + 1;
  const now = describe(place);
  if (code !== "done" && now !== ends.before) wrong.push(`${left} left, ${code}: not back at once`);
  rmSync(filler, { recursive: true });
  const end = await recoverHere(place, ends).catch((thrown: unknown) => `${thrown}`);
  if (end !== (code === "done" ? "after" : "before")) wrong.push(`${left} left, ${code}: ${end}`);
}

async function tryReadOnly(): Promise<void> {
  renewTwelve(place);
  mkdirSync(place.state, { recursive: true });
  const folder = where === "state" ? place.state : place.work;
  mount("--bind", folder, folder);
  mount("-o", "remount,ro,bind", folder);
  const code = await commit();
  said[code] = 1;
  if (describe(place) !== ends.before) wrong.push("changed on a read-only mount");
}

mount("-t", "tmpfs", "-o", scarce === "files" ? "nr_inodes=70" : "size=512k", "tmpfs", base);
const ends = await bothEnds(place);
if (scarce === "writing") await tryReadOnly();
else for (let left = 0; left < 40; left++) await tryWith(left);
writeSync(1, JSON.stringify({ said, wrong, files: readdirSync(place.work).length }));
