/** Measures how long a commit takes: one file against a plain write, fsync and rename, and a change of twelve files. */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Change } from "../../src/core/change.ts";
import type { RelPath } from "../../src/core/path.ts";
import type { Root } from "../../src/workspace/confine.ts";
import { performBatch, prepareBatch } from "../../src/workspace/disk-batch.ts";
import { type Disk, openDisk } from "../../src/workspace/system/disk.ts";
import { openPlace } from "../../test/workspace/tree.ts";

const size = 8192;

/** The median and the 95th percentile, in milliseconds. */
function spread(times: readonly number[]): { readonly p50: number; readonly p95: number } {
  const sorted = [...times].sort((a, b) => a - b);
  return { p50: sorted[Math.floor(sorted.length / 2)] ?? 0, p95: sorted[Math.floor(sorted.length * 0.95)] ?? 0 };
}

const show = ({ p50, p95 }: { readonly p50: number; readonly p95: number }) =>
  `p50 ${p50.toFixed(2)} ms, p95 ${p95.toFixed(2)} ms`;

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function writePlainly(path: string, bytes: Uint8Array): void {
  const fd = openSync(`${path}.new`, "w");
  writeSync(fd, bytes);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(`${path}.new`, path);
}

function replacing(root: string, names: readonly string[], round: number): Change[] {
  return names.map((name) => ({
    path: name as RelPath,
    before: { kind: "file", bytes: readFileSync(join(root, name)), mode: 0o644 },
    after: { kind: "file", bytes: Buffer.alloc(size, 97 + (round % 26)), mode: 0o644 },
    from: null,
  }));
}

function replaceSecurely(root: Root, disk: Disk, changes: readonly Change[]): void {
  performBatch(root, disk, prepareBatch(root, changes, 0o022));
}

export async function prove(args: readonly string[]): Promise<void> {
  const rounds = Number(args[0] ?? 100);
  const base = mkdtempSync(join(args[1] ?? tmpdir(), "pai-prove-"));
  const work = join(base, "work");
  mkdirSync(work);
  const names = Array.from({ length: 12 }, (_, n) => `${n % 3 === 0 ? "" : `folder${n % 3}/`}file${n}.txt`);
  for (const folder of ["folder1", "folder2"]) mkdirSync(join(work, folder));
  for (const name of names) writeFileSync(join(work, name), Buffer.alloc(size, 96), { mode: 0o644 });
  const counted = { effects: 0 };
  const disk = openDisk((effect) => {
    if (effect.startsWith("sync")) counted.effects++;
  });
  const opened = openPlace({ base, work, state: join(base, "state"), remove: () => {} });

  const plain: number[] = [];
  const secure: number[] = [];
  const twelve: number[] = [];
  const whole: number[] = [];
  for (let round = 0; round < rounds; round++) {
    plain.push(timed(() => writePlainly(join(work, "plain"), Buffer.alloc(size, 97 + (round % 26)))));
    const one = replacing(work, names.slice(0, 1), 3 * round);
    secure.push(timed(() => replaceSecurely(opened.root, disk, one)));
    counted.effects = 0;
    const all = replacing(work, names, 3 * round + 1);
    twelve.push(timed(() => replaceSecurely(opened.root, disk, all)));
    const run = opened.begin(`run-${round}`);
    const next = replacing(work, names, 3 * round + 2);
    const start = performance.now();
    await run.apply(next);
    await run.close();
    whole.push(performance.now() - start);
  }
  rmSync(base, { recursive: true });
  const factor = spread(secure).p50 / spread(plain).p50;
  console.log(`plain write + fsync + rename of 8 KiB:    ${show(spread(plain))}`);
  console.log(`secure replace of 8 KiB, folder synced:   ${show(spread(secure))} (${factor.toFixed(2)} x plain)`);
  console.log(`12 files in 3 folders, journal excluded:  ${show(spread(twelve))}, ${counted.effects} syncs`);
  console.log(`the same with lock and journal:           ${show(spread(whole))}`);
  if (factor >= 2) throw new Error("a secure replace takes twice a plain one or more");
  if (spread(twelve).p50 >= 40) throw new Error("a commit of 12 files takes 40 ms or more");
}
