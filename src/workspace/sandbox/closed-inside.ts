/** Finds the files of the project that are closed to commands, also when a command has moved them. */
import { type Dirent, lstatSync, readdirSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import type { RelPath } from "../../core/path.ts";
import { readSmall } from "../../system/read-small.ts";
import { joinPath } from "../parse-path.ts";
import { kindOfDenied, type PathRules } from "../path-policy.ts";

export interface Inside {
  /** Absolute, as all paths here. */
  readonly hidden: readonly string[];
  /** Repositories: folders, and files that point to one, and where those point. */
  readonly repositories: readonly string[];
  /** Whether there were too many names to look at all. */
  readonly partial: boolean;
  /** Device and number of what is hidden or a repository, by its path. */
  readonly identities: ReadonlyMap<string, string>;
}

interface Project {
  readonly workspace: string;
  readonly rules: PathRules;
}

const maxLooks = 100_000;
/** In bytes: a path may have 4,095, and a command goes on where paths end. */
const longestFolder = 3800;
/** A file `.git` holds one line. */
const maxPointerBytes = 64 * 1024;

/** `last`: the result of the previous search; entries that are gone from their place are looked for everywhere. */
export function findInside(project: Project, last: Inside | null): Inside {
  const { hidden, repositories, partial } = look(project, "usual");
  const found = { hidden: new Set(hidden), repositories: new Set(repositories), partial };
  if (last !== null) addKnown(project, last, found);
  const isWithin = (path: string) => path.startsWith(`${project.workspace}/`);
  const identities = new Map([...found.hidden, ...found.repositories].filter(isWithin).flatMap(withIdentity));
  return { hidden: [...found.hidden], repositories: [...found.repositories], partial, identities };
}

/**
 * A command can move a folder that holds something closed to a place that is not searched, and put something else in
 * its place.
 */
function addKnown(
  project: Project,
  last: Inside,
  found: { readonly hidden: Set<string>; readonly repositories: Set<string> },
): void {
  const repositories = new Set(last.repositories);
  const gone = new Map<string, string>();
  const keep = (path: string, wasAt: string) => (repositories.has(wasAt) ? found.repositories : found.hidden).add(path);
  for (const [path, identity] of last.identities) {
    if (identityOf(path) === identity) keep(path, path);
    else gone.set(identity, path);
  }
  if (gone.size === 0) return;
  for (const path of look(project, "everywhere").seen) {
    const wasAt = gone.get(identityOf(path) ?? "");
    if (wasAt !== undefined) keep(path, wasAt);
  }
}

function identityOf(path: string): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}

/**
 * Hidden files that somebody outside has put another in the place of: the kernel drops what covered the old one, so a command
 * that works in the workspace could read the new one.
 */
export const findReplaced = ({ hidden, identities }: Inside): readonly string[] =>
  hidden.filter((path) => {
    const [before, after] = [identities.get(path), identityOf(path)];
    return before !== undefined && after !== null && before !== after;
  });

function withIdentity(path: string): [string, string][] {
  const identity = identityOf(path);
  return identity === null ? [] : [[path, identity]];
}

interface Seen {
  readonly hidden: readonly string[];
  readonly repositories: readonly string[];
  readonly partial: boolean;
  /** Every path, where everything is looked at. */
  readonly seen: readonly string[];
}

/** Upper folders first. `usual`: of node_modules and of what a tool keeps only the first names are looked at. */
function look({ workspace, rules }: Project, how: "usual" | "everywhere"): Seen {
  const found = { hidden: [] as string[], repositories: [] as string[], files: [] as string[], seen: [] as string[] };
  const waiting: { readonly folder: RelPath; readonly isLast: boolean }[] = [{ folder: "" as RelPath, isLast: false }];
  let left = maxLooks;
  const note = (folder: RelPath, entry: Dirent, isLast: boolean): void => {
    const path = join(workspace, folder, entry.name);
    const kind = kindOfDenied(folder, entry.name, rules);
    if (how === "everywhere") found.seen.push(path);
    if (kind === "repository") found.repositories.push(...repositoryAt(path, entry));
    else if (kind !== null && kind !== "tool") found.hidden.push(path);
    else if (entry.isFile()) found.files.push(path);
    else if (entry.isDirectory() && !isLast) {
      const isKept = how === "usual" && (kind === "tool" || entry.name === "node_modules");
      waiting.push({ folder: joinPath(folder, entry.name), isLast: isKept });
    }
  };
  for (let next = waiting.shift(); next !== undefined && left > 0; next = waiting.shift()) {
    const folder = join(workspace, next.folder);
    const entries = Buffer.byteLength(folder) > longestFolder ? null : listFolder(folder);
    // No path leads to what is in it, or its owner may have taken away the right to list it, and a command can give it back.
    if (entries === null) found.hidden.push(folder);
    left -= entries?.length ?? 1;
    for (const entry of entries ?? []) note(next.folder, entry, next.isLast);
  }
  const { hidden, files, ...rest } = found;
  return { ...rest, hidden: [...hidden, ...otherNames(hidden, files)], partial: left <= 0 };
}

/** Second names (hard links) of hidden files; looked for only where a hidden file has one. */
function otherNames(hidden: readonly string[], files: readonly string[]): readonly string[] {
  const identities = hidden.flatMap((path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() && stat.nlink > 1 ? [`${stat.dev}:${stat.ino}`] : [];
  });
  if (identities.length === 0) return [];
  return files.filter((path) => identities.includes(identityOf(path) ?? ""));
}

/** null: it is there and cannot be listed. */
function listFolder(folder: string): readonly Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? [] : null;
  }
}

/** What belongs to the repository that a name stands for; a link that leads nowhere stands for none. */
function repositoryAt(path: string, entry: Dirent): readonly string[] {
  if (entry.isDirectory()) return [path];
  if (entry.isFile()) return [path, ...targetOf(path)];
  const target = entry.isSymbolicLink() ? realPathOf(path) : null;
  return target === null ? [] : [target];
}

/** Where a file `.git` says that the repository is: any folder may be named there. */
function targetOf(path: string): readonly string[] {
  const target = /^gitdir: (.+)$/m.exec(readSmall(path, maxPointerBytes) ?? "")?.[1];
  const real = target === undefined ? null : realPathOf(resolve(path, "..", target.trim()));
  return real !== null && hasRepositoryShape(real) ? [real] : [];
}

function hasRepositoryShape(folder: string): boolean {
  const has = (name: string) => lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
  return has("HEAD") && (has("objects") || has("commondir"));
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
