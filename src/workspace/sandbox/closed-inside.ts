/** Finds the files in the project that are closed to commands, even after a command has moved them. */
import { type Dirent, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { joinPath, type RelPath } from "../../core/path.ts";
import { entryAt } from "../../system/entry-at.ts";
import { realPathOf } from "../../system/lookups.ts";
import { readSmall } from "../../system/read-small.ts";
import { kindOfDenied, type PathRules } from "../path-policy.ts";

export interface Inside {
  /** Absolute, like all paths here. */
  readonly hidden: readonly string[];
  /** Repositories: their folders, the `.git` files that point to one, and the folders these name. */
  readonly repositories: readonly string[];
  /** Whether the project has too many names to look at all. */
  readonly partial: boolean;
  /** Device and inode of each hidden path and repository. */
  readonly identities: ReadonlyMap<string, string>;
}

interface Project {
  readonly workspace: string;
  readonly rules: PathRules;
}

const maxLooks = 100_000;
/** Bytes. A path may have 4,095, but a command can build longer ones step by step. */
const longestFolder = 3800;
/** A `.git` file has a single line. */
const maxPointerBytes = 64 * 1024;

/** `last`: result of the previous search; entries missing from their place are searched for everywhere. */
export function findInside(project: Project, last: Inside | null): Inside {
  const { hidden, repositories, partial } = look(project, "usual");
  const found = { hidden: new Set(hidden), repositories: new Set(repositories), partial };
  if (last !== null) addKnown(project, last, found);
  const isWithin = (path: string) => path.startsWith(`${project.workspace}/`);
  const identities = new Map([...found.hidden, ...found.repositories].filter(isWithin).flatMap(withIdentity));
  return { hidden: [...found.hidden], repositories: [...found.repositories], partial, identities };
}

/**
 * Finds entries of the last search again: a command can move a folder with a closed file to a place that is not
 * searched, and put something else in its place.
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
  const stat = entryAt(path);
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}

/**
 * Hidden files that somebody outside has replaced: the kernel then drops the mount that covered the old file, so a
 * command in the workspace could read the new one.
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
  /** Every path, when everything is searched. */
  readonly seen: readonly string[];
}

/** Upper folders first. `usual`: node_modules and tool folders are only searched one level deep. */
function look({ workspace, rules }: Project, how: "usual" | "everywhere"): Seen {
  const found = { hidden: [] as string[], repositories: [] as string[], files: [] as string[], seen: [] as string[] };
  const waiting: { readonly folder: RelPath; readonly isLast: boolean }[] = [{ folder: "" as RelPath, isLast: false }];
  const top = workspace === "/" ? "" : workspace;
  let left = maxLooks;
  const note = (folder: RelPath, entry: Dirent, isLast: boolean): void => {
    const inner = joinPath(folder, entry.name);
    const path = `${top}/${inner}`;
    const kind = kindOfDenied(folder, entry.name, rules);
    if (how === "everywhere") found.seen.push(path);
    if (kind === "repository") found.repositories.push(...repositoryAt(path, entry));
    else if (kind !== null && kind !== "tool") found.hidden.push(path);
    else if (entry.isFile()) found.files.push(path);
    else if (entry.isDirectory() && !isLast) {
      const isKept = how === "usual" && (kind === "tool" || entry.name === "node_modules");
      waiting.push({ folder: inner, isLast: isKept });
    }
  };
  for (let next = waiting.shift(); next !== undefined && left > 0; next = waiting.shift()) {
    const folder = next.folder === "" ? workspace : `${top}/${next.folder}`;
    const entries = Buffer.byteLength(folder) > longestFolder ? null : listFolder(folder);
    // No path leads into it, or its owner has removed the right to list it, which a command can restore.
    if (entries === null) found.hidden.push(folder);
    left -= entries?.length ?? 1;
    for (const entry of entries ?? []) note(next.folder, entry, next.isLast);
  }
  const { hidden, files, ...rest } = found;
  return { ...rest, hidden: [...hidden, ...otherNames(hidden, files)], partial: left <= 0 };
}

/** Hard links to hidden files; searched for only where a hidden file has several names. */
function otherNames(hidden: readonly string[], files: readonly string[]): readonly string[] {
  const identities = hidden.flatMap((path) => {
    const stat = entryAt(path);
    return stat?.isFile() && stat.nlink > 1 ? [`${stat.dev}:${stat.ino}`] : [];
  });
  if (identities.length === 0) return [];
  return files.filter((path) => identities.includes(identityOf(path) ?? ""));
}

/** null: the folder exists and cannot be listed. */
function listFolder(folder: string): readonly Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? [] : null;
  }
}

/** Paths of the repository that a name stands for; none for a link that leads nowhere. */
function repositoryAt(path: string, entry: Dirent): readonly string[] {
  if (entry.isDirectory()) return [path];
  if (entry.isFile()) return [path, ...targetOf(path)];
  const target = entry.isSymbolicLink() ? realPathOf(path) : null;
  return target === null ? [] : [target];
}

/** The folder that a `.git` file names, which may be any folder. */
function targetOf(path: string): readonly string[] {
  const target = /^gitdir: (.+)$/m.exec(readSmall(path, maxPointerBytes) ?? "")?.[1];
  const real = target === undefined ? null : realPathOf(resolve(path, "..", target.trim()));
  return real !== null && hasRepositoryShape(real) ? [real] : [];
}

function hasRepositoryShape(folder: string): boolean {
  const has = (name: string) => entryAt(join(folder, name)) !== undefined;
  return has("HEAD") && (has("objects") || has("commondir"));
}
