/** Files nobody may read, known by what they are and not by what they are called: a second name for one is refused too. */
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { PaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import { showName } from "./parse.ts";
import { isHidden, type PathRules } from "./policy.ts";
import type { Stat } from "./stat.ts";

export interface OwnFiles {
  /** Throws path_refused when a file that was opened is one of them. */
  refuse(stat: Stat, path: RelPath): void;
}

const maxEntries = 2000;
const freshMs = 1000;

/**
 * `folders` hold pai's config and state, absolute; one that is missing holds none. `top` leads to the root: the files
 * that stand there under denied names count too, deeper ones would cost a walk.
 */
export function openOwnFiles(folders: readonly string[], rules: PathRules, top: () => string): OwnFiles {
  let known: ReadonlyMap<string, string> = new Map();
  let knownAt = Number.NEGATIVE_INFINITY;
  return {
    refuse(stat, path) {
      if (stat.nlink < 2) return;
      if (performance.now() - knownAt > freshMs) {
        known = new Map([...findDenied(top(), rules), ...findIdentities(folders)]);
        knownAt = performance.now();
      }
      const what = known.get(`${stat.dev}:${stat.ino}`);
      if (what !== undefined) throw new PaiError("path_refused", `${showName(path)} is a second name of ${what}`);
    },
  };
}

/** Real paths, so that one of them below a root can be recognised. */
export function realFolders(folders: readonly string[]): readonly string[] {
  return folders.map((folder) => {
    try {
      return realpathSync(folder);
    } catch {
      return folder;
    }
  });
}

function findIdentities(folders: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const waiting = [...folders];
  for (let folder = waiting.shift(); folder !== undefined && found.size < maxEntries; folder = waiting.shift()) {
    for (const name of namesOf(folder)) {
      const stats = lstatSync(join(folder, name), { bigint: true, throwIfNoEntry: false });
      if (stats?.isDirectory()) waiting.push(join(folder, name));
      else if (stats) found.set(`${stats.dev}:${stats.ino}`, "a file that belongs to pai itself");
    }
  }
  return found;
}

function* findDenied(top: string, rules: PathRules): Generator<readonly [identity: string, what: string]> {
  for (const name of namesOf(`${top}/`)) {
    if (!isHidden("" as RelPath, name, rules)) continue;
    const stats = lstatSync(`${top}/${name}`, { bigint: true, throwIfNoEntry: false });
    if (stats?.isFile()) yield [`${stats.dev}:${stats.ino}`, `${showName(name)}, which is denied`];
  }
}

function namesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
