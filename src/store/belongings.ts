/** Finds which files in the user's folders belong to pai, so that nothing else is removed with them. */

import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { orNull } from "../core/error.ts";
import { entryAt, namesOf, textOfSystem } from "../system/lookups.ts";
import type { Places } from "./places.ts";

const settingsNames = /^(config|credentials)\.json(\.lock)?$/;
/** The name of a workspace's state folder ends with a hash of its path. */
const workspaceName = /-[0-9a-f]{12}$/;

const isFolder = (path: string): boolean => entryAt(path)?.isDirectory() === true;

/**
 * The current files of settings and keys, and the folder of state, with all that is in it, if it is `usualState`: one that
 * PAI_STATE_DIR names may have other content. What a link leads to was chosen by the user, and stays. Throws a system
 * error for a folder that cannot be read.
 */
export function findBelongings({ configDir, stateDir }: Places, usualState: string | null) {
  const given = [configDir, stateDir].filter((path) => path !== null).filter((path) => entryAt(path) !== undefined);
  const pathsIn = (path: string) => readdirSync(path).map((name) => join(path, name));
  const all = given.flatMap((path) => (path === configDir && isFolder(path) ? pathsIn(path).sort() : path));
  const isSettings = (path: string) => path !== configDir && settingsNames.test(basename(path));
  const isOwn = (path: string) => (path === stateDir ? path === usualState && isFolder(path) : isSettings(path));
  return { own: all.filter(isOwn), foreign: all.filter((path) => !isOwn(path)) };
}

/** Workspaces with a run that has not ended: without the state it could not be undone any more. */
export function findUnfinished({ stateDir }: Places): readonly string[] {
  const folder = stateDir ?? "";
  return namesOf(folder).filter((name) => workspaceName.test(name) && namesOf(join(folder, name, "open")).length > 0);
}

export const recordsIn = (stateDir: string, kind: "sessions" | "runs"): readonly string[] =>
  namesOf(stateDir)
    .filter((name) => workspaceName.test(name))
    .map((name) => join(stateDir, name, kind))
    .flatMap((folder) => namesOf(folder).map((name) => join(folder, name)));

/** Paths of the projects that have sessions or runs here; the paths may be outdated. */
export function findProjects({ stateDir }: Places): readonly string[] {
  const records = stateDir === null ? [] : (["sessions", "runs"] as const).flatMap((kind) => recordsIn(stateDir, kind));
  return [...new Set(records.flatMap(rootIn))].sort();
}

/** The first root that a record names; empty if it names none or cannot be read. */
export function rootIn(file: string): readonly string[] {
  const [, root] = /"root":("(?:[^"\\]|\\.)*")/.exec(textOfSystem(file)) ?? [];
  const named = root === undefined ? null : orNull(() => String(JSON.parse(root)));
  return named === null ? [] : [named];
}
