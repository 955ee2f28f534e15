/** The two folders of an overlay: what a command changes, kept apart from the workspace. */
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Layers {
  /** What is changed, and only that. */
  readonly upper: string;
  /** The kernel's own. */
  readonly work: string;
}

/** A folder that is pai's for as long as this process lives; its name says whose it is. */
export function makeScratch(parent: string, what: "layers" | "probe"): string {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  return mkdtempSync(join(parent, `pai-${what}-${process.pid}-`));
}

/** Empty layers in a folder of their own below `scratch`. */
export function makeLayers(scratch: string): Layers {
  const folder = makeScratch(scratch, "layers");
  const layers = { upper: join(folder, "upper"), work: join(folder, "work") };
  mkdirSync(layers.upper);
  mkdirSync(layers.work);
  return layers;
}

/** Removes both with all they hold, also folders that nobody may enter: the kernel and commands leave such. */
export function removeLayers({ work }: Layers): void {
  const folder = dirname(work);
  try {
    chmodSync(join(work, "work"), 0o700);
  } catch {
    // It was never mounted.
  }
  removeTree(folder);
}

/** Removes what processes left that were killed. Failures are left to the next time. */
export function sweepScratch(scratch: string): void {
  for (const name of namesIn(scratch)) {
    const owner = /^pai-(?:layers|probe)-(\d+)-/.exec(name)?.[1];
    const path = join(scratch, name);
    if (owner === undefined || isRunning(Number(owner))) continue;
    if (lstatSync(path, { throwIfNoEntry: false })?.uid !== process.getuid?.()) continue;
    try {
      removeTree(path);
    } catch {
      // Something in it cannot be removed.
    }
  }
}

/** Deeper folders than this are moved up first: removing takes as long as their path is, squared. */
const deepest = 32;

/** Moves deeper folders beside the layers, piece by piece, so that no path grows long. */
function flatten(top: string): void {
  const waiting = [{ folder: top, depth: 0 }];
  let moved = 0;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const { folder, depth } = at;
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const path = join(folder, entry.name);
      if (depth < deepest) waiting.push({ folder: path, depth: depth + 1 });
      else {
        moved += 1;
        const piece = join(top, `piece-${moved}`);
        renameSync(path, piece);
        waiting.push({ folder: piece, depth: 1 });
      }
    }
  }
}

/** Removes a folder with all it holds, also what its owner may not enter. Throws when something in it cannot be removed. */
export function removeTree(folder: string): void {
  try {
    flatten(folder);
  } catch {
    // A folder that cannot be entered, or a name that is not UTF-8: the rest is removed file by file.
  }
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    openAll(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

function openAll(folder: string): void {
  chmodSync(folder, 0o700);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (lstatSync(path).isDirectory()) openAll(path);
  }
}

/** A number that was given to another process since keeps the folder until that ends. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
