/** Finds which files in the user's folders belong to pai, by name, so that nothing else is removed with them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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
const stateNames =
  /^((trust|endpoints|keys|models|tools|mcp)\.json(\.lock)?|(run-index-\d+|days|outbox)\.sqlite(-wal|-shm)?|told-[a-z-]+)$/;
/** The name of a workspace's state folder ends with a hash of its path. */
const workspaceName = /-[0-9a-f]{12}$/;

/**
 * PAI_STATE_DIR may name a folder with other content, so a folder counts as pai's only if all its entries do; one that
 * was killed leaves a name that begins with a dot.
 */
const folders: readonly { readonly name: RegExp; readonly holds: RegExp }[] = [
  { name: /^plans$/, holds: /^\.?[0-9a-f]{64}\.json/ },
  { name: /^outbox$/, holds: /^\.?(run|undone|spend|spent|session)-[0-9a-f]{32}\.json/ },
  { name: /^history$/, holds: /^(session_[\d_]+\.log|\.gitignore)$/ },
  {
    name: workspaceName,
    holds: /^(journal|open|closed|seal|lock|held|sessions|runs|input|undone|ended|memory|pai-layers)\b/,
  },
];

const isFolder = (path: string): boolean => entryAt(path)?.isDirectory() === true;

function isState(folder: string, name: string): boolean {
  if (stateNames.test(name)) return true;
  const holds = folders.find((known) => known.name.test(name))?.holds;
  const path = join(folder, name);
  return holds !== undefined && isFolder(path) && readdirSync(path).every((inner) => holds.test(inner));
}

function sortOut(folder: string | null, isOwn: (name: string) => boolean): Belongings {
  // The target of a link was chosen by the user, so pai must not remove its content.
  if (folder === null || !isFolder(folder))
    return { own: [], foreign: folder !== null && existsSync(folder) ? [folder] : [] };
  const names = readdirSync(folder).sort();
  const paths = (keep: boolean) => names.filter((name) => isOwn(name) === keep).map((name) => join(folder, name));
  return { own: paths(true), foreign: paths(false) };
}

/** The current files of settings, keys and state. Throws a system error for a folder that cannot be read. */
export function findBelongings({ configDir, stateDir }: Places): Belongings {
  const config = sortOut(configDir, (name) => settingsNames.test(name));
  const state = sortOut(stateDir, (name) => isState(stateDir ?? "", name));
  return { own: [...config.own, ...state.own], foreign: [...config.foreign, ...state.foreign] };
}

/** Workspaces with a run that has not ended: without the state it could not be undone any more. */
export function findUnfinished({ stateDir }: Places): readonly string[] {
  const folder = stateDir ?? "";
  const isUnfinished = (name: string) =>
    ["open", "closed"].some((kind) => namesOf(join(folder, name, kind)).length > 0);
  return namesOf(folder).filter((name) => isState(folder, name) && isUnfinished(name));
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
