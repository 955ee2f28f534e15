/** Finds which files in the user's folders belong to pai, so that nothing else is removed with them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { entryAt } from "../system/entry-at.ts";
import { namesOf } from "../system/lookups.ts";
import type { Places } from "./places.ts";

export interface Belongings {
  /** Absolute paths of files and folders. */
  readonly own: readonly string[];
  /** Other files in the same folders. */
  readonly foreign: readonly string[];
}

const settingsNames = /^(config|credentials)\.json(\.lock)?$/;
/** The name of a workspace's state folder ends with a hash of its path. */
const workspaceName = /-[0-9a-f]{12}$/;

const isFolder = (path: string): boolean => entryAt(path)?.isDirectory() === true;

/**
 * The current files of settings and keys, and the folder of state: all of it, if it has its usual name, since
 * PAI_STATE_DIR may name one with other content. What a link leads to was chosen by the user, and stays. Throws a system
 * error for a folder that cannot be read.
 */
export function findBelongings({ configDir, stateDir }: Places): Belongings {
  const names = configDir !== null && isFolder(configDir) ? readdirSync(configDir).sort() : [];
  const settings = (keep: boolean) =>
    names.filter((name) => settingsNames.test(name) === keep).map((name) => join(configDir ?? "", name));
  const links = [configDir].flatMap((folder) =>
    folder !== null && !isFolder(folder) && existsSync(folder) ? folder : [],
  );
  const state = stateDir !== null && existsSync(stateDir) ? [stateDir] : [];
  const isOwn = stateDir !== null && basename(stateDir) === "pai-code" && isFolder(stateDir);
  return {
    own: [...settings(true), ...(isOwn ? state : [])],
    foreign: [...settings(false), ...links, ...(isOwn ? [] : state)],
  };
}

/** Workspaces with a run that has not ended: without the state it could not be undone any more. */
export function findUnfinished({ stateDir }: Places): readonly string[] {
  const folder = stateDir ?? "";
  const isUnfinished = (name: string) =>
    ["open", "closed"].some((kind) => namesOf(join(folder, name, kind)).length > 0);
  return namesOf(folder).filter((name) => workspaceName.test(name) && isUnfinished(name));
}

/** Paths of the projects that have sessions or runs here; the paths may be outdated. */
export function findProjects({ stateDir }: Places): readonly string[] {
  const workspaces = stateDir === null ? [] : namesOf(stateDir).filter((name) => workspaceName.test(name));
  const records = workspaces.flatMap((workspace) =>
    ["sessions", "runs"].flatMap((kind) => {
      const folder = join(stateDir ?? "", workspace, kind);
      return namesOf(folder).map((name) => join(folder, name));
    }),
  );
  return [...new Set(records.flatMap(rootIn))].sort();
}

/** The first root that a record names; empty if it names none or cannot be read. */
function rootIn(file: string): readonly string[] {
  try {
    const [, root] = /"root":("(?:[^"\\]|\\.)*")/.exec(readFileSync(file, "utf8")) ?? [];
    return root === undefined ? [] : [String(JSON.parse(root))];
  } catch {
    return [];
  }
}
