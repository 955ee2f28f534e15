/** Finds what a command must not see or change. */

import { type Dirent, readdirSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { closedNameIn, isToolName, type PathRules } from "../../core/closed-names.ts";
import { orNull, unless } from "../../core/error.ts";
import { joinPath, type RelPath } from "../../core/path.ts";
import { otherHomes, ownHomes } from "../../system/homes.ts";
import { entriesOf, entryAt, realPathOf } from "../../system/lookups.ts";
import { targetOfGitFile } from "../git/find-repository.ts";
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

export function findClosedPaths(search: ClosedSearch): ClosedPaths {
  const inside = findInside(search);
  const homes = findClosedHomes(search);
  const outside = [...homes.hidden, ...secretsAbove(search), ...search.own];
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
  readonly hidden: readonly string[];
}

interface HomeOptions {
  readonly workspace: string;
  readonly home: string | null;
  readonly isRoot: boolean;
  /** Opened by the user; a home among them, or below one, is not closed. */
  readonly open: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const rootSecrets = words("/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/ssl/private");
/** What a command writes there is discarded. */
const cacheNames = words(".cache .npm .cargo go .m2 .gradle .nuget .bun .deno .pub-cache");
const toolNames = words(`bin .local/bin .local/lib .local/share/mise .local/share/pipx .local/share/pnpm .local/share/uv
  .nvm .pyenv .rbenv .rustup .asdf .sdkman .volta .dotnet miniconda3`);
const credentials = words(`.cargo/credentials .cargo/credentials.toml .m2/settings.xml .m2/settings-security.xml
  .gradle/gradle.properties .nuget/NuGet/NuGet.Config .cache/huggingface/token .cache/git/credential`);

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
      ...[...seen, ...held].flatMap((each) => credentials.map((name) => join(each, name))),
      ...shown.reduce(openUp, held.flatMap(dotNamesIn)).map(({ path }) => path),
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

/** A home that the project holds cannot be covered. */
const dotNamesIn = (home: string): readonly Hidden[] =>
  entriesOf(home)
    .filter(({ name }) => name.startsWith(".") && !name.startsWith(".git"))
    .map((entry) => ({ path: join(home, entry.name), isFolder: entry.isDirectory() }));

/** In all folders together; a folder of the project in which there is more is hidden as a whole. */
const usualNames = 2_000_000;
/** Bytes. A command can build longer paths than the kernel takes, step by step. */
const longestFolder = 3800;

/** undefined also in a folder that may not be entered. */
const seenAt = (path: string): Stats | undefined => unless(["EACCES"], () => entryAt(path));

/**
 * The absolute paths of what is hidden in a project, and of its repositories: their folders, the `.git` files that point to
 * one, and the folders these name. Upper folders first, folders of tools only one level deep.
 */
export function findInside({ workspace, rules }: Pick<ClosedSearch, "workspace" | "rules">, maxNames = usualNames) {
  const found = { hidden: [] as string[], repositories: [] as string[] };
  const folders: { readonly folder: RelPath; readonly isLast: boolean }[] = [{ folder: "" as RelPath, isLast: false }];
  const top = workspace === "/" ? "" : workspace;
  const at = (folder: RelPath) => (folder === "" ? workspace : `${top}/${folder}`);
  let [names, searched] = [0, 0];
  const note = (folder: RelPath, entry: Dirent, isLast: boolean): void => {
    const inner = joinPath(folder, entry.name);
    const path = `${top}/${inner}`;
    const kind = closedNameIn(folder, entry.name, rules, entry.isDirectory());
    if (kind === "repository") found.repositories.push(...repositoryAt(path, entry));
    else if (kind !== null) found.hidden.push(path);
    else if (entry.isDirectory() && !isLast) folders.push({ folder: inner, isLast: isToolName(entry.name, true) });
  };
  // The list grows meanwhile.
  for (const { folder, isLast } of folders) {
    if (names >= maxNames) break;
    searched += 1;
    const entries = Buffer.byteLength(at(folder)) > longestFolder ? null : listFolder(at(folder));
    // No path leads into it, or its owner has removed the right to list it, which a command can restore.
    if (entries === null) found.hidden.push(at(folder));
    names += entries?.length ?? 0;
    for (const entry of entries ?? []) note(folder, entry, isLast);
  }
  const listed = folders.slice(0, searched).map(({ folder }) => at(folder));
  const others = otherNames(found.hidden, listed);
  const beyond = [...new Set(folders.slice(searched).map(({ folder }) => at(folder.split("/")[0] as RelPath)))];
  // A path below a folder that is covered cannot be mounted.
  const isSeen = (path: string) => !beyond.some((folder) => path.startsWith(`${folder}/`));
  return { hidden: [...found.hidden, ...others, ...beyond], repositories: found.repositories.filter(isSeen) };
}

/** Hard links to hidden files, where one has names that are not hidden. */
function otherNames(hidden: readonly string[], folders: readonly string[]): readonly string[] {
  const known = new Set(hidden);
  const missing = missingNames(known);
  const others: string[] = [];
  let left = [...missing.values()].reduce((sum, count) => sum + count, 0);
  for (const folder of left > 0 ? folders : []) {
    const paths = (listFolder(folder) ?? []).filter((entry) => entry.isFile()).map(({ name }) => join(folder, name));
    const same = paths.filter((path) => !known.has(path) && missing.has(identityOf(seenAt(path))));
    others.push(...same);
    left -= same.length;
    if (left <= 0) break;
  }
  return others;
}

const identityOf = (stat: Stats | undefined): string => `${stat?.dev}:${stat?.ino}`;

/** By device and inode, how many names of a file are not among these. */
function missingNames(known: ReadonlySet<string>): ReadonlyMap<string, number> {
  const missing = new Map<string, number>();
  for (const path of known) {
    const stat = seenAt(path);
    if (!stat?.isFile() || stat.nlink === 1) continue;
    const identity = identityOf(stat);
    missing.set(identity, (missing.get(identity) ?? stat.nlink) - 1);
  }
  return missing;
}

function listFolder(folder: string): readonly Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? [] : null;
  }
}

function repositoryAt(path: string, entry: Dirent): readonly string[] {
  if (entry.isDirectory()) return [path];
  if (entry.isFile()) return [path, ...targetOf(path)];
  const target = entry.isSymbolicLink() ? realPathOf(path) : null;
  return target === null ? [] : [target];
}

function targetOf(path: string): readonly string[] {
  const target = targetOfGitFile(path);
  const real = target === null ? null : realPathOf(target);
  return real !== null && hasRepositoryShape(real) ? [real] : [];
}

function hasRepositoryShape(folder: string): boolean {
  const has = (name: string) => entryAt(join(folder, name)) !== undefined;
  return has("HEAD") && (has("objects") || has("commondir"));
}
