/** Files that the command line names for reading or writing: those below the project go through its confined root. */
import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { linkRefused, PaiError } from "../core/error.ts";
import type { PathUse, RelPath } from "../core/path.ts";
import { type ReplaceOptions, replaceFile } from "../store/replace-file.ts";
import { openRoot } from "../workspace/confine.ts";
import { parseKept, showName } from "../workspace/parse-path.ts";
import { judgePath, type PathRules } from "../workspace/path-policy.ts";

/** The folder that pai works in, and what the user's settings say of paths in it. */
export interface Project {
  /** As given or real; it may be missing: another check reports that. */
  readonly root: string;
  readonly rules: PathRules;
}

export interface Output {
  /** Where it will be written. */
  readonly file: string;
  /** Writes it whole or not at all. */
  readonly write: (text: string) => void;
}

const realOf = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};

const isBelow = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** The path below the project that a file has, by how it is written or by where its folder really is; null: it is elsewhere. */
function pathInside(file: string, root: string): RelPath | null {
  const real = realOf(root);
  const written = [root, real].find((folder) => isBelow(folder, file));
  if (written !== undefined) return parseKept(relative(written, file));
  const folder = realOf(dirname(file));
  return isBelow(real, folder) ? parseKept(relative(real, join(folder, basename(file)))) : null;
}

/** Throws path_refused for a link on the way and for what the policy denies. */
function requireAllowed(path: RelPath, use: PathUse, { root, rules }: Project): void {
  const verdict = judgePath(path, use, rules);
  if (verdict.verdict === "deny") throw new PaiError("path_refused", `${showName(path)}: ${verdict.why}`);
  const parts = path.split("/");
  for (const [at] of parts.entries()) {
    const above = parts.slice(0, at + 1).join("/");
    const full = join(realOf(root), above);
    if (lstatSync(full, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw linkRefused(above, readlinkSync(full));
  }
}

function requireFile(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== false) return;
  throw new PaiError("io_failed", `${file} is not a regular file; nothing can be saved there`);
}

export interface OutputOptions {
  /** Readable by the user alone. */
  readonly isPrivate?: boolean;
}

/** An output below the project: no link is followed, neither now nor when it is written. */
function outputInside(file: string, path: RelPath, project: Project, kind: ReplaceOptions): Output {
  requireAllowed(path, "write", project);
  requireFile(file);
  return {
    file,
    write(text) {
      requireAllowed(path, "write", project);
      const root = openRoot(project.root, { force: true, home: null, rules: project.rules });
      try {
        root.withParent(path, (folder, name) => replaceFile(join(folder, name), text, kind));
      } finally {
        root.close();
      }
    },
  };
}

/**
 * Where an output goes, judged before anything is paid for. Below the project no link is followed and the policy is
 * asked; elsewhere a link is followed, unless it leads into the project. Throws path_refused, and io_failed where no file
 * can exist: devices, pipes, missing folders.
 */
export function findOutput(file: string, project: Project, { isPrivate = false }: OutputOptions = {}): Output {
  const kind: ReplaceOptions = { isPrivate, lasting: false };
  const folder = dirname(file);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new PaiError("io_failed", `${file} cannot be saved: ${folder} is not a folder`);
  if (realOf(file) === realOf(project.root)) requireFile(file);
  const inside = pathInside(file, project.root);
  if (inside !== null) return outputInside(file, inside, project, kind);
  requireFile(file);
  const target = realOf(file);
  const led = target === file ? null : pathInside(target, project.root);
  if (led !== null) return outputInside(target, led, project, kind);
  return { file: target, write: (text) => replaceFile(target, text, kind) };
}

/** Refuses a file below the project that is a link, leads through one, or is denied. Throws path_refused. */
export function requireInput(file: string, project: Project): void {
  // The root itself is a folder: reading it reports that.
  if (realOf(file) === realOf(project.root)) return;
  const inside = pathInside(file, project.root);
  if (inside !== null) requireAllowed(inside, "read", project);
}

/** Refuses a file on standard input, which a shell has opened through whatever link, when its own name is denied. Throws path_refused. */
export function requireStdin({ rules }: Project): void {
  const name = linkOf("/proc/self/fd/0");
  if (name === null || !name.startsWith("/") || statSync(name, { throwIfNoEntry: false })?.isFile() !== true) return;
  const verdict = judgePath(parseKept(name.slice(1)), "read", rules);
  if (verdict.verdict === "deny")
    throw new PaiError("path_refused", `standard input is ${showName(name)}: ${verdict.why}`);
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
