/** Reads and writes in a folder that another process keeps swapping for a link that leads out; counts what got out. */
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Blob } from "../../../src/core/change.ts";
import { PaiError } from "../../../src/core/error.ts";
import type { RelPath } from "../../../src/core/path.ts";
import { finish } from "../../../src/core/steps.ts";
import { openRoot, type Root } from "../../../src/workspace/confine.ts";
import { prepareBatch } from "../../../src/workspace/disk-batch.ts";
import { openDisk } from "../../../src/workspace/system/disk.ts";
import { commitBatch } from "../../../src/workspace/transaction.ts";
import { buildWorld, canary } from "./world.ts";

/** Ends at whichever comes first. */
export interface Effort {
  readonly reads: number;
  readonly writes: number;
  /** For the reads and for the writes, each. */
  readonly ms: number;
}

export interface RaceFigures {
  readonly reads: number;
  readonly readEscapes: number;
  readonly writes: number;
  readonly writeEscapes: number;
  /** Refused or in conflict: the attacker was there in time. */
  readonly refused: number;
}

const target = "dir/f" as RelPath;
const fresh = "dir/new" as RelPath;

/** `who`: pai, or a program that checks a path and then uses it. */
export async function race(who: "pai" | "naive", effort: Effort): Promise<RaceFigures> {
  const world = buildWorld();
  const trap = join(world.outside, "trap");
  mkdirSync(trap);
  writeFileSync(join(trap, "f"), canary);
  world.file("dir/f", "inside");
  symlinkSync(trap, world.place("lure"));
  const swapper = Bun.spawn(
    [process.execPath, join(import.meta.dir, "swapper.ts"), world.place("dir"), world.place("lure")],
    { stdout: "pipe", stderr: "inherit" },
  );
  const root = who === "naive" ? null : openRoot(world.project, { force: true, home: null });
  try {
    await swapper.stdout.getReader().read();
    const player = root === null ? playNaively(world.project) : playCarefully(root);
    return run(player, trap, effort);
  } finally {
    swapper.kill("SIGKILL");
    await swapper.exited;
    root?.close();
    world.remove();
  }
}

interface Player {
  /** null: refused. */
  read(): string | null;
  /** Whether it was done. */
  write(): boolean;
}

function run(player: Player, trap: string, effort: Effort): RaceFigures {
  let [reads, readEscapes, writes, writeEscapes, refused] = [0, 0, 0, 0, 0];
  for (const end = performance.now() + effort.ms; reads < effort.reads && performance.now() < end; reads += 1) {
    const text = player.read();
    if (text === null) refused += 1;
    else if (text.includes(canary)) readEscapes += 1;
  }
  for (const end = performance.now() + effort.ms; writes < effort.writes && performance.now() < end; writes += 1) {
    if (!player.write()) refused += 1;
    if (isTouched(trap)) writeEscapes += 1;
  }
  return { reads, readEscapes, writes, writeEscapes, refused };
}

/** Whether anything in the trap is not as it was laid; lays it again. */
function isTouched(trap: string): boolean {
  const caught = readdirSync(trap);
  if (caught.join() === "f" && readFileSync(join(trap, "f"), "utf8") === canary) return false;
  for (const name of caught) rmSync(join(trap, name));
  writeFileSync(join(trap, "f"), canary);
  return true;
}

/** With the very steps by which a transaction replaces and creates files. */
function playCarefully(root: Root): Player {
  const disk = openDisk();
  const [one, two] = ["inside", "inside too"].map((text): Blob => {
    return { kind: "file", bytes: new TextEncoder().encode(text), mode: 0o644 };
  });
  const blobAt = (path: RelPath): Blob | null => {
    const file = root.readBytes(path, 1000);
    return file && { kind: "file", bytes: file.bytes, mode: file.stat.mode };
  };
  return {
    read() {
      const file = unlessRefused(() => root.readBytes(target, 1000));
      return file ? Buffer.from(file.bytes).toString() : null;
    },
    write() {
      const done = unlessRefused(() => {
        const [before, there] = [blobAt(target), blobAt(fresh)];
        const after = (before?.kind === "file" && before.bytes.length === 6 ? two : one) ?? null;
        const changes = [
          { path: target, before, after, from: null },
          { path: fresh, before: there, after: there === null ? after : null, from: null },
        ];
        finish(commitBatch(root, disk, null, finish(prepareBatch(root, changes, 0o022))));
        return true;
      });
      return done === true;
    },
  };
}

function unlessRefused<T>(act: () => T): T | null {
  try {
    return act();
  } catch (thrown) {
    if (thrown instanceof PaiError && thrown.code !== "internal") return null;
    // A half-written file whose folder went away while it was named.
    if (thrown instanceof Error && "code" in thrown && (thrown.code === "ENOENT" || thrown.code === "EEXIST"))
      return null;
    throw thrown;
  }
}

function playNaively(project: string): Player {
  const check = (path: string): string | null => {
    try {
      const real = realpathSync(path);
      return real.startsWith(`${project}/`) ? path : null;
    } catch {
      return null;
    }
  };
  const file = join(project, target);
  return {
    read() {
      const path = check(file);
      return path === null ? null : readFileSync(path, "utf8");
    },
    write() {
      const path = check(join(project, "dir"));
      if (path !== null) writeFileSync(join(path, "new"), "attacked");
      return path !== null;
    },
  };
}
