/** pai's own files, known by what they are and not by what they are called: a second name for one is refused too. */
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { PaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import { showName } from "./parse.ts";
import type { Stat } from "./stat.ts";

export interface OwnFiles {
  /** Throws path_refused when a file that was opened is one of them. */
  refuse(stat: Stat, path: RelPath): void;
}

const maxEntries = 2000;
const freshMs = 1000;

/** `folders` hold them: pai's config and state, absolute; one that is missing holds none. */
export function openOwnFiles(folders: readonly string[]): OwnFiles {
  let known: ReadonlySet<string> = new Set();
  let knownAt = Number.NEGATIVE_INFINITY;
  return {
    refuse(stat, path) {
      if (stat.nlink < 2) return;
      if (performance.now() - knownAt > freshMs) {
        known = findIdentities(folders);
        knownAt = performance.now();
      }
      if (!known.has(`${stat.dev}:${stat.ino}`)) return;
      throw new PaiError("path_refused", `${showName(path)} is a second name of a file that belongs to pai itself`);
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

function findIdentities(folders: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [...folders];
  for (let folder = waiting.shift(); folder !== undefined && found.size < maxEntries; folder = waiting.shift()) {
    for (const name of namesOf(folder)) {
      const stats = lstatSync(join(folder, name), { bigint: true, throwIfNoEntry: false });
      if (stats?.isDirectory()) waiting.push(join(folder, name));
      else if (stats) found.add(`${stats.dev}:${stats.ino}`);
    }
  }
  return found;
}

function namesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
