/** The two folders of an overlay, which hold a command's changes apart from the workspace. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { orNull, PaiError } from "../../core/error.ts";
import { entryAt } from "../../system/entry-at.ts";
import { namesOf } from "../../system/lookups.ts";

export interface Layers {
  readonly upper: string;
  /** Used by the kernel. */
  readonly work: string;
}

/** Its name contains the id of this process. */
export function makeScratch(parent: string, what: "layers" | "probe" | "tmp"): string {
  try {
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    return mkdtempSync(join(parent, `pai-${what}-${process.pid}-`));
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    const isFile = code === "EEXIST" || code === "ENOTDIR";
    if (!isFile && code !== "EROFS" && code !== "EACCES") throw thrown;
    const why = isFile ? `${parent} is not a folder` : `nothing can be written in ${parent}`;
    throw new PaiError(code === "EROFS" ? "read_only" : "permission_denied", why, {
      hint: "TMPDIR names a folder for temporary files, XDG_STATE_HOME one for pai's own",
    });
  }
}

/** In a folder of their own. */
export function makeLayers(scratch: string): Layers {
  const folder = makeScratch(scratch, "layers");
  const layers = { upper: join(folder, "upper"), work: join(folder, "work") };
  mkdirSync(layers.upper);
  mkdirSync(layers.work);
  return layers;
}

/** Even folders without permissions, as the kernel and commands leave them. */
export function removeLayers({ work }: Layers): void {
  // It fails if the overlay was never mounted.
  orNull(() => chmodSync(join(work, "work"), 0o700));
  removeTree(dirname(work));
}

/** Of killed processes. What cannot be removed is left to the next time. */
export function sweepScratch(scratch: string): void {
  for (const name of namesOf(scratch)) {
    const owner = /^pai-(?:layers|probe|tmp)-(\d+)-/.exec(name)?.[1];
    if (owner === undefined || isRunning(Number(owner))) continue;
    const path = join(scratch, name);
    if (entryAt(path)?.uid === process.getuid?.()) orNull(() => removeTree(path));
  }
}

/**
 * Even where its owner has no permissions or a path is too long for one call. Throws when something cannot be removed.
 */
export function removeTree(top: string): void {
  try {
    rmSync(top, { recursive: true, force: true });
  } catch {
    // Folders alone: a file may have another name outside of the tree.
    const open = ["-type", "d", "!", "-perm", "-700", "-exec", "chmod", "u+rwx", "{}", ";"];
    Bun.spawnSync(["find", top, ...open], { stdio: ["ignore", "ignore", "ignore"] });
    const { exitCode, stderr } = Bun.spawnSync(["/bin/rm", "-rf", top], { stderr: "pipe" });
    if (exitCode !== 0) throw new PaiError("io_failed", `${top} cannot be removed: ${stderr.toString().slice(0, 200)}`);
  }
}

/** A later process with the same id counts, too. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}
