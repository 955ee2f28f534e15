/** The two folders of an overlay: what a command changes, kept apart from the workspace. */
import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { PaiError } from "../../core/error.ts";
import { enterFlags } from "../system/open-at.ts";

export interface Layers {
  /** What is changed, and only that. */
  readonly upper: string;
  /** The kernel's own. */
  readonly work: string;
}

/** A folder that is pai's for as long as this process lives; its name says whose it is. */
export function makeScratch(parent: string, what: "layers" | "probe" | "tmp"): string {
  try {
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    return mkdtempSync(join(parent, `pai-${what}-${process.pid}-`));
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== "EROFS" && code !== "EACCES") throw thrown;
    throw new PaiError(code === "EROFS" ? "read_only" : "permission_denied", `nothing can be written in ${parent}`, {
      hint: "TMPDIR names a folder for temporary files, XDG_STATE_HOME one for pai's own",
    });
  }
}

/** Empty layers in a folder of their own below `scratch`. */
export function makeLayers(scratch: string): Layers {
  const folder = makeScratch(scratch, "layers");
  const layers = { upper: join(folder, "upper"), work: join(folder, "work") };
  mkdirSync(layers.upper);
  mkdirSync(layers.work);
  return layers;
}

/** Removes both with all they hold, also folders that cannot be entered, as the kernel and commands leave them. */
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
    const owner = /^pai-(?:layers|probe|tmp)-(\d+)-/.exec(name)?.[1];
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

/** Removes a folder with all it holds, also what its owner may not enter. Throws when something in it cannot be removed. */
export function removeTree(top: string): void {
  withFolder(top, (root) => {
    let moved = 0;
    const flatten = (folder: string, depth: number): void => {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        if (!entry.isDirectory()) continue;
        const path = `${folder}/${entry.name}`;
        if (depth < deepest) withFolder(path, (inner) => flatten(inner, depth + 1));
        else renameSync(path, `${root}/piece-${moved++}`);
      }
    };
    flatten(root, 0);
    for (let next = 0; next < moved; next += 1) withFolder(`${root}/piece-${next}`, (piece) => flatten(piece, 1));
  });
  rmSync(top, { recursive: true, force: true });
}

/**
 * Makes a folder one that can be emptied and gives a name by which its content is reached, whatever is put in its place
 * meanwhile: a link that a process of the command puts there must not lead pai elsewhere. What cannot be opened is left alone.
 */
function withFolder(path: string, use: (folder: string) => void): void {
  let fd: number | null = null;
  try {
    fd = openSync(path, enterFlags);
    const folder = `/proc/self/fd/${fd}`;
    if ((statSync(folder).mode & 0o700) !== 0o700) chmodSync(folder, 0o700);
    use(folder);
  } catch {
    // It is gone, a link, or has a name that is not UTF-8: removing goes through descriptors too, and says what stays.
  } finally {
    if (fd !== null) closeSync(fd);
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
