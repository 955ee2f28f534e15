/** Recognises files that must not be read by device and inode, so that a hard link is refused too. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { closedNameIn, type PathRules } from "../core/closed-names.ts";
import { PaiError } from "../core/error.ts";
import { joinPath, nameOf, parentOf, type RelPath } from "../core/path.ts";
import { entriesBelow, realPathOf } from "../system/lookups.ts";
import { showName } from "./parse-path.ts";
import type { Stat } from "./system/stat.ts";

const maxEntries = 2000;
/** Names of the workspace, upper folders first. */
const maxLooks = 20_000;
const freshMs = 1000;

/** Returns what throws path_refused for such a file. `folders`: pai's own. `top` returns a path to the root. */
export function openOwnFiles(folders: readonly string[], rules: PathRules, top: () => string) {
  let known: ReadonlyMap<string, string> = new Map();
  let knownAt = Number.NEGATIVE_INFINITY;
  return (stat: Stat, path: RelPath): void => {
    if (stat.nlink < 2) return;
    if (performance.now() - knownAt > freshMs) {
      known = new Map([...findDenied(top(), rules), ...findIdentities(folders)]);
      knownAt = performance.now();
    }
    const what = known.get(`${stat.dev}:${stat.ino}`);
    if (what !== undefined) throw new PaiError("path_refused", `${showName(path)} is a second name of ${what}`);
  };
}

export const realFolders = (folders: readonly string[]): readonly string[] =>
  folders.map((folder) => realPathOf(folder) ?? folder);

function* findIdentities(folders: readonly string[]): Generator<readonly [identity: string, what: string]> {
  for (const folder of folders) {
    for (const [below, entry] of entriesBelow(folder, () => true, maxEntries))
      if (!entry.isDirectory())
        yield [identityAt(join(folder, below, entry.name)), "a file that belongs to pai itself"];
  }
}

function* findDenied(top: string, rules: PathRules): Generator<readonly [identity: string, what: string]> {
  const isDenied = (folder: RelPath, name: string, isFolder: boolean) =>
    closedNameIn(folder, name, rules, isFolder) !== null;
  const isWithin = (folder: RelPath) => folder !== "" && isDenied(parentOf(folder), nameOf(folder), true);
  for (const [below, entry] of entriesBelow(top, (folder) => !isWithin(folder as RelPath), maxLooks)) {
    const folder = below as RelPath;
    if (!entry.isFile() || !(isDenied(folder, entry.name, false) || isWithin(folder))) continue;
    const path = joinPath(folder, entry.name);
    yield [identityAt(`${top}/${path}`), `${showName(path)}, which is denied`];
  }
}

function identityAt(path: string): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.dev}:${stats.ino}`;
}
