/** Finds what a command must not see or change. */

import type { Dirent, Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { closedNameIn, type PathRules } from "../../core/closed-names.ts";
import { orNull } from "../../core/error.ts";
import { entryAt } from "../../system/entry-at.ts";
import { otherHomes, ownHomes } from "../../system/homes.ts";
import { entriesOf, realPathOf } from "../../system/lookups.ts";
import { findInside } from "./closed-inside.ts";
import type { Hidden } from "./confinement.ts";
import { contains, isSystemPath, openUp, outermost } from "./folders.ts";
import { type Mount, readMounts, translatePath } from "./mounts.ts";
import { isPrivate, privateFolders } from "./namespaces.ts";

export interface ClosedPaths {
  readonly hidden: readonly Hidden[];
  /** In the project: folders, and `.git` files that point to one. */
  readonly repositories: readonly string[];
  readonly homes: ClosedHomes;
}

export interface ClosedSearch extends HomeOptions {
  readonly rules: PathRules;
  readonly own: readonly string[];
  /** Folders outside the project, where the same names are closed. */
  readonly also: readonly string[];
}

const rootSecrets = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/ssl/private",
];

export function findClosedPaths(search: ClosedSearch): ClosedPaths {
  const inside = findInside(search);
  const homes = findClosedHomes(search);
  const outside = [...homes.hidden.map(({ path }) => path), ...secretsAbove(search), ...search.own];
  const privileged = search.isRoot ? [...rootSecrets, ...hostKeys()] : [];
  const mounts = readMounts("self");
  const found = new Map<string, Hidden>();
  const add = (path: string, { isElsewhere }: { readonly isElsewhere: boolean }) => {
    const real = realPathOf(path);
    const stat = real === null ? undefined : entryAt(real);
    if (real === null || stat === undefined || isNeeded(path, real, search.workspace)) return;
    for (const place of placesOf(real, stat, mounts)) {
      if (contains(place, search.workspace) || (isElsewhere && place === real)) continue;
      found.set(place, { path: place, isFolder: stat.isDirectory() });
    }
  };
  const beside = search.also.flatMap((workspace) => findInside({ workspace, rules: search.rules }).hidden);
  for (const path of [...inside.hidden, ...beside, ...outside, ...privileged]) add(path, { isElsewhere: false });
  for (const path of homes.covered) add(path, { isElsewhere: true });
  const open = search.open.flatMap((path) => realPathOf(path) ?? []);
  const hidden = open.reduce(openUp, withoutNested([...found.values()]));
  return { hidden, repositories: inside.repositories, homes };
}

/** Shared memory under /dev/shm does not count as a device. */
const isDevice = (path: string) => contains("/dev", path) && !contains("/dev/shm", path);

/** A link named like a secret may point to what every command needs. */
const isNeeded = (path: string, real: string, workspace: string) =>
  isDevice(real) || (contains(workspace, path) && !contains(workspace, real) && isSystemPath(real));

/** Also below other mount points of its file system. */
const placesOf = (real: string, { dev, ino }: Stats, mounts: readonly Mount[]): readonly string[] => [
  real,
  ...translatePath(real, mounts, mounts).filter((path) => {
    const stat = path === real ? undefined : entryAt(path);
    return stat?.dev === dev && stat.ino === ino;
  }),
];

/** Something is there, outside of the project, that a command does not see. */
export function isUnseen(path: string, { homes }: ClosedPaths, workspace: string): boolean {
  const isShown = [workspace, ...homes.tools, ...homes.caches].some((each) => contains(each, path));
  const isBelow = [...privateFolders, ...homes.covered].some((folder) => path.startsWith(`${folder}/`));
  return isBelow && !isShown && entryAt(path) !== undefined;
}

/** Hidden paths that a text mentions; in a closed home whatever is there and not shown. */
export function namedIn(text: string, closed: ClosedPaths, workspace: string): readonly string[] {
  const words = new Set(text.split(/[^\w./~+@-]+/).map((word) => word.replace(/^\.\//, "").replace(/\.$/, "")));
  const absolute = [...words].map((word) => resolve(workspace, word));
  const unseen = absolute.filter((path) => !isPrivate(path) && isUnseen(path, closed, workspace));
  const named = closed.hidden.flatMap(({ path }) => {
    if (!path.startsWith(`${workspace}/`)) return [...words].filter((word) => contains(path, word));
    const below = path.slice(workspace.length + 1);
    return [path, below, basename(below)].some((name) => words.has(name)) ? [below] : [];
  });
  return [...named, ...unseen];
}

function withoutNested(all: readonly Hidden[]): readonly Hidden[] {
  const folders = new Set(all.flatMap(({ path, isFolder }) => (isFolder ? [path] : [])));
  const isNested = (path: string): boolean => {
    const above = dirname(path);
    return above !== path && (folders.has(above) || isNested(above));
  };
  return all.filter(({ path }) => !isNested(path));
}

/** If the project is part of a larger repository. */
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

interface ClosedHomes {
  /** Closed as a whole, but for `tools` and `caches`. */
  readonly covered: readonly string[];
  readonly tools: readonly string[];
  readonly caches: readonly string[];
  /** Credentials in these; of a home that the project holds, everything with a dot. */
  readonly hidden: readonly Hidden[];
}

interface HomeOptions {
  readonly workspace: string;
  readonly home: string | null;
  readonly isRoot: boolean;
  /** Opened by the user; a home among them, or below one, is not closed. */
  readonly open: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** What a command writes there is discarded. */
const cacheNames = words(".cache .npm .cargo go .m2 .gradle .nuget .bun .deno .pub-cache");
const toolNames = words(`bin .local/bin .local/lib .local/share/mise .local/share/pipx .local/share/pnpm .local/share/uv
  .nvm .pyenv .rbenv .rustup .asdf .sdkman .volta .dotnet miniconda3`);
const credentials = words(`.cargo/credentials .cargo/credentials.toml .m2/settings.xml .m2/settings-security.xml
  .gradle/gradle.properties .nuget/NuGet/NuGet.Config .cache/huggingface/token .cache/git/credential`);

/** For root the homes of all people are closed. */
export function findClosedHomes({ workspace, home, isRoot, open }: HomeOptions): ClosedHomes {
  const own = [...new Set(ownHomes(home).flatMap(realFolder))];
  const others = isRoot ? ["/home", ...otherHomes(home)].flatMap(realFolder) : [];
  const closed = [...own, ...others].filter(
    (each) => !isSystemPath(each) && !isPrivate(each) && !open.some((path) => contains(path, each)),
  );
  const covered = outermost(closed.filter((each) => !contains(workspace, each)));
  const seen = own.filter((each) => covered.some((folder) => contains(folder, each)));
  const foldersIn = (homes: readonly string[], names: readonly string[]) =>
    homes.flatMap((each) => names.flatMap((name) => folderAt(join(each, name))));
  const held = own.filter((each) => contains(workspace, each) && closed.includes(each));
  const shown = [...foldersIn(held, toolNames), ...foldersIn(held, cacheNames)];
  return {
    covered,
    tools: foldersIn(seen, toolNames),
    caches: foldersIn(seen, cacheNames),
    hidden: [
      ...[...seen, ...held].flatMap((each) => credentials.map((name) => join(each, name))).flatMap(hiddenAt),
      ...shown.reduce(openUp, held.flatMap(dotNamesIn)),
    ],
  };
}

function realFolder(path: string): readonly string[] {
  const real = realPathOf(path);
  return real === null ? [] : folderAt(real);
}

/** Not a link: what it leads to is seen where it is, or is closed there. */
const folderAt = (path: string): readonly string[] =>
  orNull(() => entryAt(path))?.isDirectory() === true ? [path] : [];

/** Empty also for what this user, and so a command, may not reach. */
function hiddenAt(path: string): readonly Hidden[] {
  const stat = orNull(() => entryAt(path)) ?? null;
  return stat === null ? [] : [{ path, isFolder: stat.isDirectory() }];
}

/** A home that the project holds cannot be covered. */
const dotNamesIn = (home: string): readonly Hidden[] =>
  entriesOf(home)
    .filter(({ name }) => name.startsWith(".") && !name.startsWith(".git"))
    .map((entry) => ({ path: join(home, entry.name), isFolder: entry.isDirectory() }));
