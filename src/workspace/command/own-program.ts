/** Finds a file of the workspace that a command would start. */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { startedBy } from "../../core/command/command-files.ts";
import { realPathOf } from "../../system/lookups.ts";
import { contains } from "../sandbox/folders.ts";

/** The real path of the first such file; null: all that the command starts lies elsewhere. `root`: real path. */
export function findOwnProgram(root: string, command: string, path: string): string | null {
  const { programs, files } = startedBy(command);
  const found = programs.map((name) => (name.includes("/") ? resolve(root, name) : Bun.which(name, { PATH: path })));
  const named = files.map((name) => resolve(root, name)).filter(isFile);
  for (const each of [...found, ...named]) {
    const real = each === null ? null : (realPathOf(each) ?? each);
    if (real !== null && contains(root, real)) return real;
  }
  return null;
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();
