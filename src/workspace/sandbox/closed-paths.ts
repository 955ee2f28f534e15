/** Finds what a command must not see or change: secrets in project and home, repositories, pai's own folders. */
import type { Dirent, Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { closedNameIn, type PathRules } from "../../core/names.ts";
import { entryAt } from "../../system/entry-at.ts";
import { entriesOf, realPathOf } from "../../system/lookups.ts";
import { findInside, type Inside } from "./closed-inside.ts";
import type { Hidden } from "./confinement.ts";
import type { HomeOptions } from "./home-secrets.ts";
import { type Mount, readMounts, translatePath } from "./mounts.ts";

export interface ClosedPaths {
  readonly hidden: readonly Hidden[];
  /** Repositories in the project: folders, and `.git` files that point to one. */
  readonly repositories: readonly string[];
  /** Whether there are too many names to look at all; folders that were not searched are hidden. */
  readonly partial: boolean;
  /** The part within the project, for the next search. */
  readonly inside: Inside;
}

export interface ClosedSearch extends HomeOptions {
  /** What `findHomeSecrets` has found. */
  readonly homeSecrets: readonly string[];
  /** Real path. */
  readonly workspace: string;
  readonly rules: PathRules;
  /** pai's own folders. */
  readonly own: readonly string[];
  /** Absolute paths that the user opens to commands. */
  readonly open: readonly string[];
}

/** Files that only root can read anyway. */
const rootSecrets = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/ssl/private",
];

/** `last`: result of the previous search; null: there was none. */
export function findClosedPaths(search: ClosedSearch, last: ClosedPaths | null): ClosedPaths {
  const inside = findInside(search, last?.inside ?? null);
  const outside = [...search.homeSecrets, ...secretsAbove(search), ...search.own];
  const privileged = search.isRoot ? [...rootSecrets, ...hostKeys()] : [];
  const mounts = readMounts("self");
  const found = new Map<string, Hidden>();
  for (const path of [...inside.hidden, ...outside, ...privileged]) {
    const real = realPathOf(path);
    const stat = real === null ? undefined : entryAt(real);
    if (real === null || stat === undefined || isNeeded(path, real, search.workspace)) continue;
    for (const place of placesOf(real, stat, mounts)) {
      if (!contains(place, search.workspace)) found.set(place, { path: place, isFolder: stat.isDirectory() });
    }
  }
  const open = search.open.flatMap((path) => realPathOf(path) ?? []);
  const hidden = open.reduce(openUp, withoutNested([...found.values()]));
  return { hidden, repositories: inside.repositories, partial: inside.partial, inside };
}

/** Shared memory under /dev/shm does not count as a device. */
const isDevice = (path: string) => contains("/dev", path) && !contains("/dev/shm", path);

const programs = ["/usr", "/bin", "/sbin", "/lib", "/lib64"];
const systemFolders = [...programs, "/etc", "/proc", "/sys", "/tmp"];

/** A link named like a secret may point to something that every command needs: a device, a program, a system folder. */
const isNeeded = (path: string, real: string, workspace: string) =>
  isDevice(real) || (contains(workspace, path) && !contains(workspace, real) && isOfSystem(real));

const isOfSystem = (path: string) =>
  path === "/" ||
  programs.some((folder) => contains(folder, path)) ||
  systemFolders.some((folder) => contains(path, folder));

/** The path, and the same file or folder below other mount points of its file system. */
const placesOf = (real: string, { dev, ino }: Stats, mounts: readonly Mount[]): readonly string[] => [
  real,
  ...translatePath(real, mounts, mounts).filter((path) => {
    const stat = path === real ? undefined : entryAt(path);
    return stat?.dev === dev && stat.ino === ino;
  }),
];

/**
 * Hidden paths that a text mentions: by full path, by path relative to the project, or by name for a file in the
 * project.
 */
export function namedIn(text: string, hidden: readonly Hidden[], workspace: string): readonly string[] {
  const words = new Set(text.split(/[^\w./~+@-]+/).map((word) => word.replace(/^\.\//, "").replace(/\.$/, "")));
  return hidden.flatMap(({ path }) => {
    if (!path.startsWith(`${workspace}/`)) return words.has(path) ? [path] : [];
    const below = path.slice(workspace.length + 1);
    return [path, below, basename(below)].some((name) => words.has(name)) ? [below] : [];
  });
}

const contains = (folder: string, path: string) => path === folder || path.startsWith(`${folder}/`);

/** Drops paths inside a hidden folder. */
function withoutNested(all: readonly Hidden[]): readonly Hidden[] {
  const folders = new Set(all.flatMap(({ path, isFolder }) => (isFolder ? [path] : [])));
  const isNested = (path: string): boolean => {
    const above = dirname(path);
    return above !== path && (folders.has(above) || isNested(above));
  };
  return all.filter(({ path }) => !isNested(path));
}

/** Opens one path: of a hidden folder above it everything else stays hidden. */
function openUp(hidden: readonly Hidden[], open: string): readonly Hidden[] {
  return hidden.flatMap((each): readonly Hidden[] => {
    if (contains(open, each.path)) return [];
    if (!each.isFolder || !contains(each.path, open)) return [each];
    const children = entriesOf(each.path).map((entry) => ({
      path: join(each.path, entry.name),
      isFolder: entry.isDirectory(),
    }));
    return openUp(children, open);
  });
}

/** Secrets in the folders above, if the project is part of a larger repository. */
function secretsAbove({ workspace, rules }: ClosedSearch): readonly string[] {
  const above: string[] = [];
  for (let at = workspace; at !== "/"; at = dirname(at)) {
    if (at !== workspace) above.push(at);
    if (entryAt(join(at, ".git")) !== undefined) return above.flatMap(secretsIn);
  }
  return [];

  function secretsIn(folder: string): readonly string[] {
    const anywhere = { allow: rules.allow, deny: rules.deny };
    const isSecret = (entry: Dirent) => closedNameIn("", entry.name, anywhere, entry.isDirectory()) === "secret";
    return entriesOf(folder)
      .filter(isSecret)
      .map(({ name }) => join(folder, name));
  }
}

const hostKeys = (): readonly string[] =>
  entriesOf("/etc/ssh").flatMap(({ name }) => (/^ssh_host_.*_key$/.test(name) ? [join("/etc/ssh", name)] : []));
