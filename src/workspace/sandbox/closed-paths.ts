/** Finds what a command must not see or change: secrets of the project and of the home, repositories, pai's own folders. */
import { type Dirent, lstatSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { RelPath } from "../../core/path.ts";
import { kindOfDenied, type PathRules } from "../path-policy.ts";
import { entriesOf } from "../system/entries.ts";
import { findInside, type Inside } from "./closed-inside.ts";
import type { Hidden } from "./confinement.ts";
import { findHomeSecrets, type HomeOptions } from "./home-secrets.ts";
import { type Mount, readMounts, translatePath } from "./mounts.ts";

export interface ClosedPaths {
  readonly hidden: readonly Hidden[];
  /** Repositories in the project: folders, and files that point to one. */
  readonly repositories: readonly string[];
  /** Whether there were too many names to look at all. */
  readonly partial: boolean;
  /** Of the project alone: for the next time. */
  readonly inside: Inside;
}

export interface Ground extends HomeOptions {
  /** Real path. */
  readonly workspace: string;
  readonly rules: PathRules;
  /** pai's own folders. */
  readonly own: readonly string[];
  /** Paths that the person opens to commands, absolute. */
  readonly open: readonly string[];
}

/** What only root can read anyway. */
const rootSecrets = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/ssl/private",
];

/** `last`: what was found the time before; null: nothing yet. */
export function findClosedPaths(ground: Ground, last: ClosedPaths | null): ClosedPaths {
  const inside = findInside(ground, last?.inside ?? null);
  const outside = [...findHomeSecrets(ground), ...secretsAbove(ground), ...ground.own];
  const privileged = ground.isRoot ? [...rootSecrets, ...hostKeys()] : [];
  const mounts = readMounts("self");
  const found = new Map<string, Hidden>();
  for (const path of [...inside.hidden, ...outside, ...privileged]) {
    const real = realPathOf(path);
    const stat = real === null ? undefined : lstatSync(real, { throwIfNoEntry: false });
    if (real === null || stat === undefined || isNeeded(path, real, ground.workspace)) continue;
    for (const place of placesOf(real, stat, mounts)) {
      if (!contains(place, ground.workspace)) found.set(place, { path: place, isFolder: stat.isDirectory() });
    }
  }
  const open = ground.open.flatMap((path) => realPathOf(path) ?? []);
  const hidden = open.reduce(openUp, withoutNested([...found.values()]));
  return { hidden, repositories: inside.repositories, partial: inside.partial, inside };
}

/** Folders of shared memory lie there as well. */
const isDevice = (path: string) => contains("/dev", path) && !contains("/dev/shm", path);

const programs = ["/usr", "/bin", "/sbin", "/lib", "/lib64"];
const systemFolders = [...programs, "/etc", "/proc", "/sys", "/tmp"];

/** A link with the name of a secret may lead to what every command needs: a device, programs, or a folder of the system as a whole. */
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
    const stat = path === real ? undefined : lstatSync(path, { throwIfNoEntry: false });
    return stat?.dev === dev && stat.ino === ino;
  }),
];

/** Hidden paths that a text names, those of the project relative to it: the whole path, or for a file in the project its name. */
export function namedIn(text: string, hidden: readonly Hidden[], workspace: string): readonly string[] {
  const words = new Set(text.split(/[^\w./~+@-]+/).map((word) => word.replace(/^\.\//, "").replace(/\.$/, "")));
  return hidden.flatMap(({ path }) => {
    if (!path.startsWith(`${workspace}/`)) return words.has(path) ? [path] : [];
    const below = path.slice(workspace.length + 1);
    return [path, below, basename(below)].some((name) => words.has(name)) ? [below] : [];
  });
}

const contains = (folder: string, path: string) => path === folder || path.startsWith(`${folder}/`);

/** The content of a hidden folder is hidden with it. */
function withoutNested(all: readonly Hidden[]): readonly Hidden[] {
  const folders = all.filter(({ isFolder }) => isFolder);
  return all.filter(({ path }) => !folders.some((folder) => folder.path !== path && contains(folder.path, path)));
}

/** Takes `open` out: of a hidden folder above it everything else stays hidden. */
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

/** Secrets in the folders above, where the project is a part of a repository. */
function secretsAbove({ workspace, rules }: Ground): readonly string[] {
  const above: string[] = [];
  for (let at = workspace; at !== "/"; at = dirname(at)) {
    if (at !== workspace) above.push(at);
    if (lstatSync(join(at, ".git"), { throwIfNoEntry: false }) !== undefined) return above.flatMap(secretsIn);
  }
  return [];

  function secretsIn(folder: string): readonly string[] {
    const isSecret = ({ name }: Dirent) => kindOfDenied("" as RelPath, name, rules) === "secret";
    return entriesOf(folder)
      .filter(isSecret)
      .map(({ name }) => join(folder, name));
  }
}

const hostKeys = (): readonly string[] =>
  entriesOf("/etc/ssh").flatMap(({ name }) => (/^ssh_host_.*_key$/.test(name) ? [join("/etc/ssh", name)] : []));

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
