/** The two folders of an overlay: what a command changes, kept apart from the workspace. */
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Layers {
  /** What is changed, and only that. */
  readonly upper: string;
  /** The kernel's own. */
  readonly work: string;
}

/** Empty layers in a folder of their own below `scratch`. */
export function makeLayers(scratch: string): Layers {
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(scratch, "pai-layers-"));
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
