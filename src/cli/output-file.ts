/** Files that the command line names: those in the project are accessed through its confined root. */

import { lstatSync, readlinkSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { PathRules } from "../core/closed-names.ts";
import { linkRefused, orNull, PaiError } from "../core/error.ts";
import { type PathUse, pathWithin, type RelPath } from "../core/path.ts";
import { realPathOf } from "../system/lookups.ts";
import { type NewFile, replaceFile } from "../system/write-file.ts";
import { openRoot } from "../workspace/confine.ts";
import { parseKept, showName } from "../workspace/parse-path.ts";
import { judgePath } from "../workspace/path-policy.ts";

export interface Project {
  /** As given or as real path; may be missing, which another check reports. */
  readonly root: string;
  readonly rules: PathRules;
}

const realOf = (path: string): string => realPathOf(path) ?? path;

/** The path below the project of a file, by its spelling or its folder's real path; null: it is elsewhere. */
function pathInside(file: string, root: string): RelPath | null {
  const real = realOf(root);
  const within =
    pathWithin(file, root) ?? pathWithin(file, real) ?? pathWithin(join(realOf(dirname(file)), basename(file)), real);
  return within === null ? null : parseKept(within);
}

/** Throws path_refused for a link on the path and for a denied path. */
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

/** An output in the project: no link is followed, neither now nor when it is written. */
function outputInside(file: string, path: RelPath, project: Project, kind: NewFile) {
  requireAllowed(path, "write", project);
  requireFile(file);
  return {
    file,
    write(text: string) {
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
 * Checks an output before anything is paid for; `isPrivate`: only the user may read it. In the project no link is followed and the policy applies; elsewhere
 * links are followed unless they lead into the project. Throws path_refused, and io_failed where no file can be
 * written: devices, pipes, missing folders.
 */
export function findOutput(file: string, project: Project, isPrivate = false) {
  const kind: NewFile = { mode: isPrivate ? 0o600 : null, lasting: false };
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
  return { file: target, write: (text: string) => replaceFile(target, text, kind) };
}

/** Throws path_refused for a file in the project that is a link, is reached through one, or is denied. */
export function requireInput(file: string, project: Project): void {
  // The root is a folder; reading it reports that.
  if (realOf(file) === realOf(project.root)) return;
  const inside = pathInside(file, project.root);
  if (inside !== null) requireAllowed(inside, "read", project);
}

/** Throws path_refused if standard input is a file with a denied name, whatever link the shell opened. */
export function requireStdin({ rules }: Project): void {
  const name = orNull(() => readlinkSync("/proc/self/fd/0"));
  if (name === null || !name.startsWith("/") || statSync(name, { throwIfNoEntry: false })?.isFile() !== true) return;
  const verdict = judgePath(parseKept(name.slice(1)), "read", rules);
  if (verdict.verdict === "deny")
    throw new PaiError("path_refused", `standard input is ${showName(name)}: ${verdict.why}`);
}
